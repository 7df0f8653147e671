// Aliases of the types generated from docs/openapi.json (`npm run gen`). When a type of the server changes, tsc reports
// every page that uses it.
import type { components } from "./schema";

type Schemas = components["schemas"];

export type Attributes = Schemas["AttributeMap"];
export type Point = Schemas["TrendPoint"];
export type Pagination = Schemas["PageInfo"];
export interface Page<T> {
  data: T[];
  pagination: Pagination;
}

export type Project = Schemas["ProjectView"];
export type Bundle = Schemas["LoginBundle"];
/** After registration it includes the first project. */
export type Session = Schemas["LoginAnswer"] & { project?: Project };
export type Registration = Schemas["RegisterRequest"];
export type ProjectChange = Schemas["ProjectChangeRequest"];

export type SavedView = Schemas["SavedViewRow"];
export type SavedViewPage = Schemas["SavedViewPage"];
export type SavedViewRequest = Schemas["SavedViewRequest"];
export type SavedViewChange = Partial<Schemas["SavedViewChange"]>;

export type ConfigTypes = Schemas["ConfigTypes"];
export type ConfigType = Schemas["ConfigType"];
export type ConfigField = Schemas["ConfigField"];

export type Check = Schemas["Check"];
export type CheckRequest = Schemas["CheckRequest"];
export type CheckResult = Schemas["CheckResult"];
export type CheckDay = Schemas["CheckDay"];
export type CheckDuration = Schemas["CheckDuration"];
export type CheckPoint = Schemas["CheckPoint"];
export type CheckSeries = Schemas["CheckSeries"];
export type CheckCounts = Schemas["CheckCounts"];
export type CheckOverviewRow = Schemas["CheckOverviewRow"];

export type FirstVersionKind = Schemas["ComparedKind"];
export type VersionPage = Schemas["VersionPage"];
export type Difference = Schemas["Difference"];
export type Deploy = Schemas["DeployView"];

export type ServiceMap = Schemas["ServiceMap"];
export type ServiceDetail = Schemas["ServiceDetail"];
export type ServiceVersion = Schemas["ServiceVersion"];
export type ServiceInstance = Schemas["ServiceInstance"];

export type Compared = Schemas["Compared"];
export type Answers = Schemas["Answers"];
export type NewThing = Schemas["NewThing"];
export type AiSpendOf = Schemas["AiSpendOf"];

export type ChangeCard = Schemas["ChangeCard"];

export type EndpointRow = Schemas["EndpointRow"];
export type EndpointGroup = Schemas["EndpointGroup"];
export type ImpactLevel = Schemas["ImpactLevel"];
export type EndpointDetail = Schemas["EndpointPage"];
export type TaskRow = Schemas["TaskRow"];
export type TaskGroup = Schemas["TaskGroup"];
export type TaskDetail = Schemas["TaskPage"];
/** Fields that rows of endpoints and tasks have in common. */
export type Occurrence = Omit<EndpointRow, "endpoint" | "bodySize">;

export type AiRow = Schemas["AiTraceRow"];
export type AiGroup = Schemas["AiTraceGroup"];
export type AiGrouping = Schemas["AiGrouping"];
export type AiFlag = Schemas["AiFlag"];
export type AiTotals = Schemas["AiTotals"];
export type AiConversation = Schemas["AiConversation"];
export type AiUser = Schemas["AiUser"];
export type ConversationPage = Schemas["ConversationPage"];
export type ConversationTurn = Schemas["ConversationTurn"];
export type TurnMessage = Schemas["TurnMessage"];
export type TurnSpan = Schemas["TurnSpan"];
export type AiList = Schemas["AiTracePage"];
export type AiDetail = Schemas["AiTraceDetail"];
export type Conversation = Schemas["Conversation"];
export type Message = Schemas["Message"];
export type ToolCall = Schemas["ToolCall"];

/** Common shape of the three charts above the rankings. */
export interface ChartAnswer {
  endpoints?: string[];
  tasks?: string[];
  traces?: string[];
  series: { timestamp: string; value: number; endpoint?: string; task?: string; trace?: string }[];
  intervalMinutes: number;
}

export type Span = Schemas["SpanView"];
export type GraphStatus = Schemas["SpanGraphStatus"];
export type TraceColumns = Schemas["TraceColumns"];
export type ColumnEntity = Schemas["ColumnEntity"];
export type TimeShare = Schemas["TimeShare"];
export type ServiceCall = Schemas["ServiceCall"];
export type SpanPage = Schemas["SpanPage"];
export type TraceSearchPage = Schemas["TraceSearchPage"];
export type TraceRow = Schemas["TraceRow"];

export type IssueGroup = Schemas["IssueGroup"];
export type RemovedSymbols = Schemas["RemovedSymbols"];
export type IssueOccurrence = Schemas["Occurrence"];
export type IssueState = Schemas["IssueState"];
export type IssueActivity = Schemas["IssueActivityView"];
export type IssueDetail = Schemas["IssueDetail"];
export type IssueGrouping = Schemas["IssueGrouping"];
export type GroupingRule = Schemas["GroupingRuleView"];
export type GroupingRulePreview = Schemas["GroupingRulePreview"];
export type TagDistribution = Schemas["TagDistribution"];

export type Services = Schemas["Services"];
export type ServiceSeen = Schemas["ServiceSeen"];
export type SignalSeen = Schemas["SignalSeen"];
export type PromotedCount = Schemas["PromotedCount"];
export type DemoView = Schemas["DemoView"];

export type LogRow = Schemas["LogView"];
export type LogAround = Schemas["LogAround"];
export type LogPattern = Schemas["LogPattern"];
export type LogHistogram = Schemas["LogHistogram"];
export type QueryRows = Schemas["RowKind"];
export type FacetAnswer = Schemas["Facets"];
export type CompletionAnswer = Schemas["Completions"];

export type MetricInfo = Schemas["DiscoveredMetric"];
export type Aggregation = Schemas["Aggregation"];
export type MetricAnswer = Schemas["MetricsAnswer"];

export type Overview = Schemas["Overview"];
export type Drops = Schemas["Drops"];
export type Refusals = Schemas["Refusals"];

export type SymbolFile = Schemas["SymbolFile"];
export type MissingSymbols = Schemas["MissingSymbols"];
export type WaitingForSymbols = Schemas["WaitingForSymbols"];
export type ResolvedTrace = Schemas["ResolvedTrace"];
export type FrameSource = Schemas["FrameSource"];

export type ProfileGroup = Schemas["ProfileGroup"];
export type ProfileType = Schemas["ProfileTypeView"];
export type ProfileSelection = Schemas["ProfileSelection"];
export type FlameGraph = Schemas["FlameGraph"];
export type TopFunction = Schemas["TopFunction"];

export type Incident = Schemas["IncidentView"];
export type IncidentDetail = Schemas["IncidentDetail"];
export type TimelineEntry = Schemas["TimelineEntry"];
export type PostMortem = Schemas["PostMortemView"];
export type PostMortemRow = Schemas["PostMortemRow"];
export type MarkdownNode = Schemas["MarkdownNode"];
export type StatusPage = Schemas["StatusPageView"];
export type StatusPageRequest = Schemas["StatusPageRequest"];
export type StatusCheckChoice = Schemas["StatusCheckChoice"];
export type Maintenance = Schemas["MaintenanceView"];
export type PublicStatus = Schemas["PublicStatus"];
export type PublicCheck = Schemas["PublicCheck"];
