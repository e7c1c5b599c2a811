"""The calls of the console that the feature-management service publishes, with what each takes."""

from __future__ import annotations

from noarkit.standins.published import Door, Doors

DOORS = Doors(
    [
        Door(
            "GET",
            "/audit_logs",
            "id sortKey sortOrder latestID tags actionType actionTypes* startDate endDate limit page",
        ),
        Door("GET", "/autotunes", "limit page"),
        Door(
            "POST",
            "/autotunes",
            body="attributionWindow! explorationWindow! name! successEvent! variants! winnerThreshold!"
            " attributionWindowUnit description explorationWindowRate featureList goalRichText"
            " higherIsBetter idType isContextual linkedExperimentName longtermExplorationAllocation"
            " metadataField metricSourceID optimizationParameter successEventValue valueColumn",
        ),
        Door("DELETE", "/autotunes/{id}"),
        Door("GET", "/autotunes/{id}"),
        Door(
            "PATCH",
            "/autotunes/{id}",
            body="attributionWindow attributionWindowUnit description explorationWindow"
            " explorationWindowRate featureList goalRichText higherIsBetter isContextual"
            " linkedExperimentName longtermExplorationAllocation metadataField metricSourceID"
            " optimizationParameter successEvent successEventValue valueColumn variants"
            " winnerThreshold",
        ),
        Door(
            "POST",
            "/autotunes/{id}",
            body="attributionWindow! explorationWindow! successEvent! variants! winnerThreshold!"
            " attributionWindowUnit description explorationWindowRate featureList goalRichText"
            " higherIsBetter isContextual linkedExperimentName longtermExplorationAllocation"
            " metadataField metricSourceID optimizationParameter successEventValue valueColumn",
        ),
        Door("PUT", "/autotunes/{id}/make_decision", body="decisionReason! id! removeTargeting"),
        Door("PUT", "/autotunes/{id}/reset"),
        Door("PUT", "/autotunes/{id}/start"),
        Door("GET", "/company"),
        Door("GET", "/dynamic_configs", "releasePipelineID creatorName creatorID tags limit page"),
        Door(
            "POST",
            "/dynamic_configs",
            body="name! creatorEmail creatorID defaultValue defaultValueJson5 description id idType"
            " isEnabled isTemplate owner releasePipelineID rules schema schemaJson5 tags targetApps"
            " team teamID",
        ),
        Door("DELETE", "/dynamic_configs/{id}"),
        Door("GET", "/dynamic_configs/{id}"),
        Door(
            "PATCH",
            "/dynamic_configs/{id}",
            body="creatorEmail creatorID defaultValue defaultValueJson5 description idType isEnabled name"
            " owner releasePipelineID rules schema schemaJson5 tags targetApps team teamID",
        ),
        Door(
            "POST",
            "/dynamic_configs/{id}",
            body="description! isEnabled! rules! creatorEmail creatorID defaultValue defaultValueJson5"
            " idType name owner releasePipelineID schema schemaJson5 tags targetApps team teamID",
        ),
        Door("PUT", "/dynamic_configs/{id}/archive", body="archiveReason forceArchive"),
        Door("PUT", "/dynamic_configs/{id}/disable"),
        Door("PUT", "/dynamic_configs/{id}/enable"),
        Door("GET", "/dynamic_configs/{id}/reviews", "limit page"),
        Door("GET", "/dynamic_configs/{id}/reviews/{id}"),
        Door("GET", "/dynamic_configs/{id}/rules"),
        Door("PUT", "/dynamic_configs/{id}/unarchive", body="unarchiveReason"),
        Door("GET", "/dynamic_configs/{id}/versions", "limit page"),
        Door(
            "GET",
            "/experiments",
            "layerID idType teamID status targetAppID createdStartDate createdEndDate creatorName"
            " creatorID tags limit page",
        ),
        Door(
            "POST",
            "/experiments",
            body="name! allocation allocationDuration analysisEndTime analyticsType"
            " assignmentSourceExperimentName assignmentSourceFilters assignmentSourceName"
            " benjaminiHochbergPerMetric benjaminiHochbergPerVariant benjaminiPrimaryMetricsOnly"
            " bonferroniCorrection bonferroniCorrectionPerMetric cohortWaitUntilEndToInclude"
            " cohortedAnalysisDuration cohortedMetricsMatureAfterEnd controlGroupID creatorEmail"
            " creatorID decisionReason defaultConfidenceInterval description duration"
            " fixedAnalysisDuration groups hypothesis id idType identifierMappingMode"
            " identityResolutionSource isAnalysisOnly isSidecar launchedGroupID layerID links"
            " manualQualityScores otherMetrics primaryMetricTags primaryMetrics scheduledReloadHour"
            " scheduledReloadType secondaryIDType secondaryMetricTags secondaryMetrics"
            " sequentialTesting status stratifiedSampling tags targetApps targetExposures"
            " targetingGateID team teamID",
        ),
        Door("DELETE", "/experiments/{id}"),
        Door("GET", "/experiments/{id}"),
        Door(
            "PATCH",
            "/experiments/{id}",
            body="allocation allocationDuration analysisEndTime analyticsType"
            " assignmentSourceExperimentName assignmentSourceFilters assignmentSourceName"
            " benjaminiHochbergPerMetric benjaminiHochbergPerVariant benjaminiPrimaryMetricsOnly"
            " bonferroniCorrection bonferroniCorrectionPerMetric cohortWaitUntilEndToInclude"
            " cohortedAnalysisDuration cohortedMetricsMatureAfterEnd controlGroupID creatorEmail"
            " creatorID decisionReason defaultConfidenceInterval description duration"
            " fixedAnalysisDuration groups hypothesis idType identifierMappingMode"
            " identityResolutionSource isAnalysisOnly isSidecar launchedGroupID links"
            " manualQualityScores name otherMetrics primaryMetricTags primaryMetrics"
            " scheduledReloadHour scheduledReloadType secondaryIDType secondaryMetricTags"
            " secondaryMetrics sequentialTesting status stratifiedSampling tags targetApps"
            " targetExposures targetingGateID team teamID",
        ),
        Door(
            "POST",
            "/experiments/{id}",
            body="allocation! bonferroniCorrection! defaultConfidenceInterval! description! groups!"
            " hypothesis! idType! status! targetingGateID! allocationDuration analysisEndTime"
            " analyticsType assignmentSourceExperimentName assignmentSourceFilters"
            " assignmentSourceName benjaminiHochbergPerMetric benjaminiHochbergPerVariant"
            " benjaminiPrimaryMetricsOnly bonferroniCorrectionPerMetric cohortWaitUntilEndToInclude"
            " cohortedAnalysisDuration cohortedMetricsMatureAfterEnd controlGroupID creatorEmail"
            " creatorID decisionReason duration fixedAnalysisDuration identifierMappingMode"
            " identityResolutionSource isAnalysisOnly isSidecar launchedGroupID links"
            " manualQualityScores name otherMetrics primaryMetricTags primaryMetrics"
            " scheduledReloadHour scheduledReloadType secondaryIDType secondaryMetricTags"
            " secondaryMetrics sequentialTesting stratifiedSampling tags targetApps targetExposures"
            " team teamID",
        ),
        Door("PUT", "/experiments/{id}/abandon", body="decisionReason!"),
        Door("PUT", "/experiments/{id}/archive", body="archiveReason"),
        Door("PUT", "/experiments/{id}/make_decision", body="decisionReason! id! removeTargeting"),
        Door(
            "GET",
            "/experiments/{id}/pulse_results",
            "control! test! cuped confidence applyBonferroniPerVariant applyBonferroniPerMetric"
            " bonferroniPrimaryMetricWeight applyBenjaminiHochbergPerMetric"
            " applyBenjaminiHochbergPerVariant date",
        ),
        Door("PUT", "/experiments/{id}/reset"),
        Door("GET", "/experiments/{id}/reviews", "limit page"),
        Door("GET", "/experiments/{id}/reviews/{id}"),
        Door("PUT", "/experiments/{id}/start", body="analysisEndTime analysisStartTime"),
        Door("PUT", "/experiments/{id}/unarchive"),
        Door("GET", "/experiments/{id}/versions", "limit page"),
        Door(
            "GET",
            "/gates",
            "idType type typeReason passRate rolloutRate releasePipelineID creatorName creatorID tags"
            " limit page includeArchiveMetadata includeArchived teamID targetAppID",
        ),
        Door(
            "POST",
            "/gates",
            "includeArchiveMetadata",
            "creatorEmail creatorID description id idType isEnabled isTemplate measureMetricLifts"
            " monitoringMetrics name releasePipelineID reviewSettings rules tags targetApps team"
            " teamID type",
        ),
        Door("DELETE", "/gates/{id}", "includeArchiveMetadata"),
        Door("GET", "/gates/{id}", "includeArchiveMetadata"),
        Door(
            "PATCH",
            "/gates/{id}",
            "includeArchiveMetadata",
            "creatorEmail creatorID description idType isEnabled measureMetricLifts monitoringMetrics"
            " name releasePipelineID reviewSettings rules tags targetApps team teamID type",
        ),
        Door(
            "POST",
            "/gates/{id}",
            "includeArchiveMetadata",
            "description! isEnabled! rules! creatorEmail creatorID idType measureMetricLifts"
            " monitoringMetrics name releasePipelineID reviewSettings tags targetApps team teamID type",
        ),
        Door("PUT", "/gates/{id}/archive", "includeArchiveMetadata", "archiveReason forceArchive"),
        Door("PUT", "/gates/{id}/disable", "includeArchiveMetadata"),
        Door("PUT", "/gates/{id}/enable", "includeArchiveMetadata"),
        Door("PUT", "/gates/{id}/launch", "includeArchiveMetadata"),
        Door("GET", "/gates/{id}/reviews", "limit page"),
        Door("GET", "/gates/{id}/reviews/{id}"),
        Door("GET", "/gates/{id}/rules"),
        Door("PUT", "/gates/{id}/unarchive", "includeArchiveMetadata", "unarchiveReason"),
        Door("GET", "/gates/{id}/versions", "limit page"),
        Door("GET", "/holdouts", "creatorName creatorID tags limit page"),
        Door("POST", "/holdouts", body="name! description idType teamID"),
        Door("DELETE", "/holdouts/{id}"),
        Door("GET", "/holdouts/{id}"),
        Door(
            "PATCH",
            "/holdouts/{id}",
            body="description experimentIDs gateIDs isEnabled isGlobal layerIDs monitoringMetrics"
            " passPercentage targetingGateID",
        ),
        Door(
            "POST",
            "/holdouts/{id}",
            body="description! experimentIDs! gateIDs! isEnabled! isGlobal! layerIDs! passPercentage!"
            " targetingGateID! monitoringMetrics",
        ),
        Door("GET", "/holdouts/{id}/pulse_results", "cuped confidence"),
        Door("GET", "/keys"),
        Door("GET", "/layers", "limit page"),
        Door("POST", "/layers", body="idType! name! description targetApps team"),
        Door("DELETE", "/layers/{id}"),
        Door("GET", "/layers/{id}"),
        Door("PATCH", "/layers/{id}", body="description parameters targetApps"),
        Door("POST", "/layers/{id}", body="description! parameters! targetApps"),
        Door("GET", "/logs", "query source columns* start_ts end_ts limit after"),
        Door("GET", "/metrics/list", "showHiddenMetrics tags filters limit page"),
        Door("GET", "/param_stores", "limit page"),
        Door("POST", "/param_stores", body="description! displayName! name! tags targetAppIDs team"),
        Door("DELETE", "/param_stores/{id}"),
        Door("GET", "/param_stores/{id}"),
        Door("POST", "/param_stores/{id}", body="description parameters"),
        Door("GET", "/project"),
        Door("GET", "/segments", "limit page"),
        Door(
            "POST", "/segments", body="name! type! creatorEmail creatorID description id idType rules tags team teamID"
        ),
        Door("DELETE", "/segments/{id}"),
        Door("GET", "/segments/{id}"),
        Door("PUT", "/segments/{id}/archive"),
        Door("POST", "/segments/{id}/conditional", body="[]"),
        Door("PATCH", "/segments/{id}/id_list", body="ids!"),
        Door("GET", "/segments/{id}/id_list", "limit page"),
    ]
)
