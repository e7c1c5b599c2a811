"""The calls that the application security service publishes, with what each takes."""

from __future__ import annotations

from noarkit.services.standins.published_calls import CallSpec, CallSpecs

DOORS = CallSpecs(
    [
        CallSpec("GET", "/api/applications", "offset limit name tags-keys* tags-values*"),
        CallSpec("POST", "/api/applications", body="name! criticality description rules tags type"),
        CallSpec("DELETE", "/api/applications/{id}"),
        CallSpec("GET", "/api/applications/{id}"),
        CallSpec("PUT", "/api/applications/{id}", body="name! criticality description rules tags type"),
        CallSpec("POST", "/api/applications/{id}/projects", body="projectIds!"),
        CallSpec("GET", "/api/audit-events", "startDate endDate offset limit"),
        CallSpec("GET", "/api/audit-events/", "startDate endDate offset limit"),
        CallSpec("POST", "/api/data-retention/scans/lock", body="scanIds!"),
        CallSpec("GET", "/api/data-retention/scans/locked", "offset limit"),
        CallSpec("POST", "/api/data-retention/scans/unlock", body="scanIds!"),
        CallSpec("GET", "/api/kics-results-predicates/{id}", "project-ids* include-comment-json scan-id offset limit"),
        CallSpec("GET", "/api/micro-engines/read/predicates/{id}", "project-ids*"),
        CallSpec("GET", "/api/policy_management_service_uri/evaluation", "astProjectId! scanId!"),
        CallSpec(
            "GET",
            "/api/projects",
            "offset limit ids* id* names* name name-regex groups* tags-keys* tags-values* repo-url",
        ),
        CallSpec(
            "POST",
            "/api/projects",
            body="name! applicationIds criticality groups mainBranch origin privatePackage repoUrl scmRepoId tags",
        ),
        CallSpec("GET", "/api/projects/branches", "offset limit project-id branch-name"),
        CallSpec(
            "GET",
            "/api/projects/last-scan",
            "offset limit project-ids* application-id scan-status branch engine use-main-branch",
        ),
        CallSpec("GET", "/api/projects/tags"),
        CallSpec("DELETE", "/api/projects/{id}"),
        CallSpec("GET", "/api/projects/{id}"),
        CallSpec("PATCH", "/api/projects/{id}", body="..."),
        CallSpec(
            "PUT",
            "/api/projects/{id}",
            body="name! applicationIds criticality groups mainBranch origin privatePackage repoUrl scmRepoId tags",
        ),
        CallSpec(
            "POST",
            "/api/reports/v2",
            body="entities! fileFormat! filters! reportName! reportType! sections! emails reportFilename",
        ),
        CallSpec("GET", "/api/reports/{id}", "returnUrl"),
        CallSpec("GET", "/api/reports/{id}/download"),
        CallSpec(
            "GET",
            "/api/results",
            "scan-id! severity* state* status* offset limit sort* include-nodes exclude-result-types",
        ),
        CallSpec("GET", "/api/sast-results-predicates/{id}", "project-ids* include-comment-json scan-id offset limit"),
        CallSpec("GET", "/api/sca/export/requests", "exportId! returnUrl"),
        CallSpec("POST", "/api/sca/export/requests", body="FileFormat! ScanID! ExportParameters"),
        CallSpec("GET", "/api/sca/export/requests/{id}/download"),
        CallSpec("POST", "/api/sca/management-of-risk/package-vulnerabilities/entity-profile/search", body="..."),
        CallSpec(
            "GET",
            "/api/scan-summary",
            "scan-ids* include-severity-status include-status-counters include-queries include-files"
            " apply-predicates language",
        ),
        CallSpec(
            "GET",
            "/api/scans",
            "offset limit scan-ids* groups* tags-keys* tags-values* statuses* project-id project-ids*"
            " source-type* source-types* source-origin* source-origins* from-date to-date sort* field*"
            " search project-names* initiators* branch branches*",
        ),
        CallSpec("POST", "/api/scans", body="config! handler! project! type! tags"),
        CallSpec("GET", "/api/scans/tags"),
        CallSpec("DELETE", "/api/scans/{id}"),
        CallSpec("GET", "/api/scans/{id}"),
        CallSpec("PATCH", "/api/scans/{id}", body="status!"),
        CallSpec("POST", "/api/uploads"),
        CallSpec("POST", "/api/uploads/abort-multipart-upload", body="objectName! UploadID uploadID"),
        CallSpec("POST", "/api/uploads/complete-multipart-upload", body="UploadID! objectName! partList!"),
        CallSpec("POST", "/api/uploads/multipart-presigned", body="UploadID! objectName! partNumber!"),
        CallSpec("POST", "/api/uploads/start-multipart-upload", body="fileSize!"),
        CallSpec("GET", "/api/webhooks/tenant", "offset limit"),
        CallSpec("POST", "/api/webhooks/tenant", body="config! enabledEvents! name! active"),
        CallSpec("DELETE", "/api/webhooks/{id}"),
        CallSpec("GET", "/api/webhooks/{id}"),
        CallSpec("PATCH", "/api/webhooks/{id}", body="active config enabledEvents name"),
    ]
)
