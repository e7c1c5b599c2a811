"""The calls of the console that the feature-management service publishes, with what each takes."""

from __future__ import annotations

from noarkit.services.standins.published_calls import CallSpec, CallSpecs

DOORS = CallSpecs(
    [
        CallSpec(
            "GET",
            "/audit_logs",
            "id sortKey sortOrder latestID tags actionType actionTypes* startDate endDate limit page",
        ),
        CallSpec("GET", "/autotunes", "limit page"),
        CallSpec(
            "POST",
            "/autotunes",
            body="attributionWindow! explorationWindow! name! successEvent! variants! winnerThreshold!"
            " attributionWindowUnit description explorationWindowRate featureList goalRichText"
            " higherIsBetter idType isContextual linkedExperimentName longtermExplorationAllocation"
            " metadataField metricSourceID optimizationParameter successEventValue valueColumn",
        ),
        CallSpec("DELETE", "/autotunes/{id}"),
        CallSpec("GET", "/autotunes/{id}"),
        CallSpec(
            "PATCH",
            "/autotunes/{id}",
            body="attributionWindow attributionWindowUnit description explorationWindow"
            " explorationWindowRate featureList goalRichText higherIsBetter isContextual"
            " linkedExperimentName longtermExplorationAllocation metadataField metricSourceID"
            " optimizationParameter successEvent successEventValue valueColumn variants"
            " winnerThreshold",
        ),
        CallSpec(
            "POST",
            "/autotunes/{id}",
            body="attributionWindow! explorationWindow! successEvent! variants! winnerThreshold!"
            " attributionWindowUnit description explorationWindowRate featureList goalRichText"
            " higherIsBetter isContextual linkedExperimentName longtermExplorationAllocation"
            " metadataField metricSourceID optimizationParameter successEventValue valueColumn",
        ),
        CallSpec("PUT", "/autotunes/{id}/make_decision", body="decisionReason! id! removeTargeting"),
        CallSpec("PUT", "/autotunes/{id}/reset"),
        CallSpec("PUT", "/autotunes/{id}/start"),
        CallSpec("GET", "/company"),
        CallSpec("GET", "/dynamic_configs", "releasePipelineID creatorName creatorID tags limit page"),
        CallSpec(
            "POST",
            "/dynamic_configs",
            body="name! creatorEmail creatorID defaultValue defaultValueJson5 description id idType"
            " isEnabled isTemplate owner releasePipelineID rules schema schemaJson5 tags targetApps"
            " team teamID",
        ),
        CallSpec("DELETE", "/dynamic_configs/{id}"),
        CallSpec("GET", "/dynamic_configs/{id}"),
        CallSpec(
            "PATCH",
            "/dynamic_configs/{id}",
            body="creatorEmail creatorID defaultValue defaultValueJson5 description idType isEnabled name"
            " owner releasePipelineID rules schema schemaJson5 tags targetApps team teamID",
        ),
        CallSpec(
            "POST",
            "/dynamic_configs/{id}",
            body="description! isEnabled! rules! creatorEmail creatorID defaultValue defaultValueJson5"
            " idType name owner releasePipelineID schema schemaJson5 tags targetApps team teamID",
        ),
        CallSpec("PUT", "/dynamic_configs/{id}/archive", body="archiveReason forceArchive"),
        CallSpec("PUT", "/dynamic_configs/{id}/disable"),
        CallSpec("PUT", "/dynamic_configs/{id}/enable"),
        CallSpec("GET", "/dynamic_configs/{id}/reviews", "limit page"),
        CallSpec("GET", "/dynamic_configs/{id}/reviews/{id}"),
        CallSpec("GET", "/dynamic_configs/{id}/rules"),
        CallSpec("PUT", "/dynamic_configs/{id}/unarchive", body="unarchiveReason"),
        CallSpec("GET", "/dynamic_configs/{id}/versions", "limit page"),
        CallSpec(
            "GET",
            "/experiments",
            "layerID idType teamID status targetAppID createdStartDate createdEndDate creatorName"
            " creatorID tags limit page",
        ),
        CallSpec(
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
        CallSpec("DELETE", "/experiments/{id}"),
        CallSpec("GET", "/experiments/{id}"),
        CallSpec(
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
        CallSpec(
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
        CallSpec("PUT", "/experiments/{id}/abandon", body="decisionReason!"),
        CallSpec("PUT", "/experiments/{id}/archive", body="archiveReason"),
        CallSpec("PUT", "/experiments/{id}/make_decision", body="decisionReason! id! removeTargeting"),
        CallSpec(
            "GET",
            "/experiments/{id}/pulse_results",
            "control! test! cuped confidence applyBonferroniPerVariant applyBonferroniPerMetric"
            " bonferroniPrimaryMetricWeight applyBenjaminiHochbergPerMetric"
            " applyBenjaminiHochbergPerVariant date",
        ),
        CallSpec("PUT", "/experiments/{id}/reset"),
        CallSpec("GET", "/experiments/{id}/reviews", "limit page"),
        CallSpec("GET", "/experiments/{id}/reviews/{id}"),
        CallSpec("PUT", "/experiments/{id}/start", body="analysisEndTime analysisStartTime"),
        CallSpec("PUT", "/experiments/{id}/unarchive"),
        CallSpec("GET", "/experiments/{id}/versions", "limit page"),
        CallSpec(
            "GET",
            "/gates",
            "idType type typeReason passRate rolloutRate releasePipelineID creatorName creatorID tags"
            " limit page includeArchiveMetadata includeArchived teamID targetAppID",
        ),
        CallSpec(
            "POST",
            "/gates",
            "includeArchiveMetadata",
            "creatorEmail creatorID description id idType isEnabled isTemplate measureMetricLifts"
            " monitoringMetrics name releasePipelineID reviewSettings rules tags targetApps team"
            " teamID type",
        ),
        CallSpec("DELETE", "/gates/{id}", "includeArchiveMetadata"),
        CallSpec("GET", "/gates/{id}", "includeArchiveMetadata"),
        CallSpec(
            "PATCH",
            "/gates/{id}",
            "includeArchiveMetadata",
            "creatorEmail creatorID description idType isEnabled measureMetricLifts monitoringMetrics"
            " name releasePipelineID reviewSettings rules tags targetApps team teamID type",
        ),
        CallSpec(
            "POST",
            "/gates/{id}",
            "includeArchiveMetadata",
            "description! isEnabled! rules! creatorEmail creatorID idType measureMetricLifts"
            " monitoringMetrics name releasePipelineID reviewSettings tags targetApps team teamID type",
        ),
        CallSpec("PUT", "/gates/{id}/archive", "includeArchiveMetadata", "archiveReason forceArchive"),
        CallSpec("PUT", "/gates/{id}/disable", "includeArchiveMetadata"),
        CallSpec("PUT", "/gates/{id}/enable", "includeArchiveMetadata"),
        CallSpec("PUT", "/gates/{id}/launch", "includeArchiveMetadata"),
        CallSpec("GET", "/gates/{id}/reviews", "limit page"),
        CallSpec("GET", "/gates/{id}/reviews/{id}"),
        CallSpec("GET", "/gates/{id}/rules"),
        CallSpec("PUT", "/gates/{id}/unarchive", "includeArchiveMetadata", "unarchiveReason"),
        CallSpec("GET", "/gates/{id}/versions", "limit page"),
        CallSpec("GET", "/holdouts", "creatorName creatorID tags limit page"),
        CallSpec("POST", "/holdouts", body="name! description idType teamID"),
        CallSpec("DELETE", "/holdouts/{id}"),
        CallSpec("GET", "/holdouts/{id}"),
        CallSpec(
            "PATCH",
            "/holdouts/{id}",
            body="description experimentIDs gateIDs isEnabled isGlobal layerIDs monitoringMetrics"
            " passPercentage targetingGateID",
        ),
        CallSpec(
            "POST",
            "/holdouts/{id}",
            body="description! experimentIDs! gateIDs! isEnabled! isGlobal! layerIDs! passPercentage!"
            " targetingGateID! monitoringMetrics",
        ),
        CallSpec("GET", "/holdouts/{id}/pulse_results", "cuped confidence"),
        CallSpec("GET", "/keys"),
        CallSpec("GET", "/layers", "limit page"),
        CallSpec("POST", "/layers", body="idType! name! description targetApps team"),
        CallSpec("DELETE", "/layers/{id}"),
        CallSpec("GET", "/layers/{id}"),
        CallSpec("PATCH", "/layers/{id}", body="description parameters targetApps"),
        CallSpec("POST", "/layers/{id}", body="description! parameters! targetApps"),
        CallSpec("GET", "/logs", "query source columns* start_ts end_ts limit after"),
        CallSpec("GET", "/metrics/list", "showHiddenMetrics tags filters limit page"),
        CallSpec("GET", "/param_stores", "limit page"),
        CallSpec("POST", "/param_stores", body="description! displayName! name! tags targetAppIDs team"),
        CallSpec("DELETE", "/param_stores/{id}"),
        CallSpec("GET", "/param_stores/{id}"),
        CallSpec("POST", "/param_stores/{id}", body="description parameters"),
        CallSpec("GET", "/project"),
        CallSpec("GET", "/segments", "limit page"),
        CallSpec(
            "POST", "/segments", body="name! type! creatorEmail creatorID description id idType rules tags team teamID"
        ),
        CallSpec("DELETE", "/segments/{id}"),
        CallSpec("GET", "/segments/{id}"),
        CallSpec("PUT", "/segments/{id}/archive"),
        CallSpec("POST", "/segments/{id}/conditional", body="[]"),
        CallSpec("PATCH", "/segments/{id}/id_list", body="ids!"),
        CallSpec("GET", "/segments/{id}/id_list", "limit page"),
    ]
)
