"""The calls that the application security service publishes, with what each takes."""

from __future__ import annotations

from noarkit.standins.published import Door, Doors

DOORS = Doors(
    [
        Door("GET", "/api/applications", "offset limit name tags-keys* tags-values*"),
        Door("POST", "/api/applications", body="name! criticality description rules tags type"),
        Door("DELETE", "/api/applications/{id}"),
        Door("GET", "/api/applications/{id}"),
        Door("PUT", "/api/applications/{id}", body="name! criticality description rules tags type"),
        Door("POST", "/api/applications/{id}/projects", body="projectIds!"),
        Door("GET", "/api/audit-events", "startDate endDate offset limit"),
        Door("GET", "/api/audit-events/", "startDate endDate offset limit"),
        Door("POST", "/api/data-retention/scans/lock", body="scanIds!"),
        Door("GET", "/api/data-retention/scans/locked", "offset limit"),
        Door("POST", "/api/data-retention/scans/unlock", body="scanIds!"),
        Door("GET", "/api/kics-results-predicates/{id}", "project-ids* include-comment-json scan-id offset limit"),
        Door("GET", "/api/micro-engines/read/predicates/{id}", "project-ids*"),
        Door("GET", "/api/policy_management_service_uri/evaluation", "astProjectId! scanId!"),
        Door(
            "GET",
            "/api/projects",
            "offset limit ids* id* names* name name-regex groups* tags-keys* tags-values* repo-url",
        ),
        Door(
            "POST",
            "/api/projects",
            body="name! applicationIds criticality groups mainBranch origin privatePackage repoUrl scmRepoId tags",
        ),
        Door("GET", "/api/projects/branches", "offset limit project-id branch-name"),
        Door(
            "GET",
            "/api/projects/last-scan",
            "offset limit project-ids* application-id scan-status branch engine use-main-branch",
        ),
        Door("GET", "/api/projects/tags"),
        Door("DELETE", "/api/projects/{id}"),
        Door("GET", "/api/projects/{id}"),
        Door("PATCH", "/api/projects/{id}", body="..."),
        Door(
            "PUT",
            "/api/projects/{id}",
            body="name! applicationIds criticality groups mainBranch origin privatePackage repoUrl scmRepoId tags",
        ),
        Door(
            "POST",
            "/api/reports/v2",
            body="entities! fileFormat! filters! reportName! reportType! sections! emails reportFilename",
        ),
        Door("GET", "/api/reports/{id}", "returnUrl"),
        Door("GET", "/api/reports/{id}/download"),
        Door(
            "GET",
            "/api/results",
            "scan-id! severity* state* status* offset limit sort* include-nodes exclude-result-types",
        ),
        Door("GET", "/api/sast-results-predicates/{id}", "project-ids* include-comment-json scan-id offset limit"),
        Door("GET", "/api/sca/export/requests", "exportId! returnUrl"),
        Door("POST", "/api/sca/export/requests", body="FileFormat! ScanID! ExportParameters"),
        Door("GET", "/api/sca/export/requests/{id}/download"),
        Door("POST", "/api/sca/management-of-risk/package-vulnerabilities/entity-profile/search", body="..."),
        Door(
            "GET",
            "/api/scan-summary",
            "scan-ids* include-severity-status include-status-counters include-queries include-files"
            " apply-predicates language",
        ),
        Door(
            "GET",
            "/api/scans",
            "offset limit scan-ids* groups* tags-keys* tags-values* statuses* project-id project-ids*"
            " source-type* source-types* source-origin* source-origins* from-date to-date sort* field*"
            " search project-names* initiators* branch branches*",
        ),
        Door("POST", "/api/scans", body="config! handler! project! type! tags"),
        Door("GET", "/api/scans/tags"),
        Door("DELETE", "/api/scans/{id}"),
        Door("GET", "/api/scans/{id}"),
        Door("PATCH", "/api/scans/{id}", body="status!"),
        Door("POST", "/api/uploads"),
        Door("POST", "/api/uploads/abort-multipart-upload", body="objectName! UploadID uploadID"),
        Door("POST", "/api/uploads/complete-multipart-upload", body="UploadID! objectName! partList!"),
        Door("POST", "/api/uploads/multipart-presigned", body="UploadID! objectName! partNumber!"),
        Door("POST", "/api/uploads/start-multipart-upload", body="fileSize!"),
        Door("GET", "/api/webhooks/tenant", "offset limit"),
        Door("POST", "/api/webhooks/tenant", body="config! enabledEvents! name! active"),
        Door("DELETE", "/api/webhooks/{id}"),
        Door("GET", "/api/webhooks/{id}"),
        Door("PATCH", "/api/webhooks/{id}", body="active config enabledEvents name"),
    ]
)
