// The words of the HTTP API as the pages use them.

export type Attributes = Record<string, string>;
export interface Point {
  timestamp: string;
  count: number;
}
export interface Pagination {
  page: number;
  pageSize: number;
  total: number;
  totalPages: number;
}
export interface Page<T> {
  data: T[] | null;
  pagination: Pagination;
}

export interface User {
  id: string;
  email: string;
  name: string;
  createdAt: string;
}
export interface ProjectSettings {
  keepUnmatchedRoots: boolean;
  issuesFromLogs: boolean;
  sampleRate: number;
  errorSampleRate: number;
}
export interface Project {
  id: string;
  name: string;
  token: string;
  framework: string;
  organizationId: string;
  createdAt: string;
  sourceMapToken?: string | null;
  backendUrl: string;
  role: string;
  settings: ProjectSettings;
}
export interface Organization {
  id: string;
  name: string;
  role: string;
  timezone: string;
}
export interface Bundle {
  user: User;
  projects: Project[];
  organizations: Organization[];
}
export interface Session extends Bundle {
  token: string;
  project?: Project | null;
}

export interface Occurrence {
  id: string;
  projectId: string;
  duration: number;
  recordedAt: string;
  statusCode: number;
  clientIP: string;
  attributes: Attributes;
  appVersion: string;
  serverName: string;
  traceId: string;
  spanId: string;
  parentSpanId: string;
  isStream: boolean;
  isRoot: boolean;
}
export interface EndpointRow extends Occurrence {
  endpoint: string;
  bodySize: number;
}
export interface TaskRow extends Occurrence {
  taskName: string;
}
export type ImpactLevel = "critical" | "high" | "medium" | "good";
export interface EndpointGroup {
  endpoint: string;
  count: number;
  p50Duration: number;
  p95Duration: number;
  p99Duration: number;
  avgDuration: number;
  lastSeen: string;
  impact: number;
  impactReason: string;
  impactLevel: ImpactLevel;
  apdex: number | null;
  errorCount: number;
  clientErrorCount: number;
  streamCount: number;
  hasRoot: boolean;
  hasNonRoot: boolean;
  trend: Point[];
}
export interface TaskGroup {
  taskName: string;
  count: number;
  p50Duration: number;
  p95Duration: number;
  p99Duration: number;
  avgDuration: number;
  lastSeen: string;
  impact: number;
  errorCount: number;
  hasRoot: boolean;
  hasNonRoot: boolean;
  trend: Point[];
}
export interface Stats {
  count: number;
  avgDuration: number;
  medianDuration: number;
  p95Duration: number;
  p99Duration: number;
  apdex?: number | null;
  errorRate: number;
  clientErrorRate?: number;
  throughput: number;
}
export interface EndpointDetail extends Page<EndpointRow> {
  stats: Stats;
  statusCounts: Record<string, number>;
}
export interface TaskDetail extends Page<TaskRow> {
  stats: Stats;
}
export interface ChartPoint {
  timestamp: string;
  value: number;
  endpoint?: string;
  task?: string;
  trace?: string;
}
export interface ChartAnswer {
  endpoints?: string[];
  tasks?: string[];
  traces?: string[];
  series: ChartPoint[] | null;
  intervalMinutes: number;
}

export interface AiRow {
  id: string;
  projectId: string;
  recordedAt: string;
  duration: number;
  statusCode: number;
  model: string;
  responseModel: string;
  provider: string;
  operation: string;
  inputTokens: number | null;
  outputTokens: number | null;
  totalTokens: number | null;
  cachedTokens: number | null;
  reasoningTokens: number | null;
  inputCost: number | null;
  outputCost: number | null;
  totalCost: number | null;
  costEstimated: boolean;
  traceName: string;
  userId: string;
  finishReason: string;
  serverName: string;
  appVersion: string;
  storageKey: string;
  attributes: Attributes;
  traceId: string;
  spanId: string;
  parentSpanId: string;
  isRoot: boolean;
  isError: boolean;
  isStream: boolean;
  conversationId: string;
  toolCallCount: number;
  toolNames: string[];
  flagged: boolean;
  flaggedTerms: string[];
}
export interface AiGroup {
  traceName: string;
  count: number;
  p50Duration: number;
  p95Duration: number;
  avgDuration: number;
  totalTokens: number | null;
  totalCost: number | null;
  estimatedCost: boolean;
  unpricedCount: number;
  avgInputTokens: number | null;
  avgOutputTokens: number | null;
  lastSeen: string;
  hasRoot: boolean;
  hasNonRoot: boolean;
  errorCount: number;
  models: string[];
  trend: Point[];
}
export interface AiStats {
  count: number;
  avgDuration: number;
  medianDuration?: number;
  p95Duration: number;
  totalTokens?: number | null;
  totalCost?: number | null;
  errorRate?: number;
}
export interface AiList extends Page<AiRow> {
  stats: AiStats;
}
export interface ToolCall {
  id?: string;
  name?: string;
  arguments?: string;
}
export interface Message {
  role: string;
  content: string;
  toolCalls?: ToolCall[] | null;
}
export interface Conversation {
  input?: unknown;
  output?: unknown;
  messages: Message[];
}
export interface AiDetail {
  aiTrace: AiRow;
  spans: Span[];
  spanGraphStatus: GraphStatus;
  conversation: Conversation | null;
}

export interface SpanEvent {
  name: string;
  time: string;
  attributes: Attributes;
}
export interface SpanLink {
  traceId: string;
  spanId: string;
  attributes: Attributes;
}
export interface Span {
  projectId: string;
  traceId: string;
  spanId: string;
  parentSpanId: string;
  name: string;
  startTime: string;
  recordedAt: string;
  duration: number;
  spanKind: number;
  statusCode: number;
  statusMessage: string;
  serviceName: string;
  scopeName: string;
  attributes: Attributes;
  resourceAttributes?: Attributes | null;
  events: SpanEvent[];
  links: SpanLink[];
  dbStatement?: string | null;
  httpStatus?: number | null;
  isEndpoint: boolean;
  isTask: boolean;
  isAiTrace: boolean;
  entityId?: string | null;
  entityName?: string | null;
  depth: number;
  hasMissingParent: boolean;
}
export interface GraphStatus {
  state: "complete" | "partial" | "unavailable" | string;
  reasons: string[];
  total: number;
  shown: number;
}
export interface TraceNode {
  projectId: string;
  projectName: string;
  traceType: string;
  traceId: string;
  spanId: string;
  endpoint?: EndpointRow | null;
  task?: TaskRow | null;
  aiTrace?: AiRow | null;
  parentEntitySpanId?: string | null;
}
export interface TraceAnswer {
  traceId: string;
  nodes: TraceNode[];
  spans: Span[];
  projects: { id: string; name: string }[];
  exceptions: IssueOccurrence[];
  spanGraphStatus: GraphStatus;
}
export interface SpanPage extends Page<Span> {
  services?: string[] | null;
}

export interface IssueGroup {
  exceptionHash: string;
  stackTrace: string;
  title: string;
  exceptionType: string;
  message: string;
  count: number;
  firstSeen: string;
  lastSeen: string;
  hourlyTrend: Point[];
  archived: boolean;
  ownerType?: string | null;
  ownerName?: string | null;
}
export interface IssueOccurrence {
  id: string;
  exceptionHash: string;
  stackTrace: string;
  exceptionType: string;
  message: string;
  recordedAt: string;
  traceId: string;
  spanId: string;
  traceType: string;
  serverName: string;
  appVersion: string;
  isMessage: boolean;
  attributes: Attributes;
  ownerType: string | null;
  ownerName: string | null;
  ownerId: string | null;
}
export interface RelatedEntity {
  traceType: string;
  id: string;
  name: string;
  statusCode: number;
  duration: number;
  recordedAt: string;
  traceId: string;
}
export interface TagDistribution {
  key: string;
  values: { value: string; count: number }[];
}
export interface IssueDetail {
  group: IssueGroup;
  occurrences: IssueOccurrence[] | null;
  pagination: Pagination;
  relatedEntity?: RelatedEntity | null;
  tags: TagDistribution[];
}

export interface LogRow {
  id: string;
  timestamp: string;
  observedTimestamp: string;
  severityText: string;
  severityNumber: number;
  serviceName: string;
  body: string;
  traceId: string;
  spanId: string;
  resourceAttributes: Attributes;
  scopeName: string;
  scopeAttributes: Attributes;
  logAttributes: Attributes;
  eventName: string;
}
export interface LogHistogram {
  buckets: { timestamp: string; counts: Record<string, number> }[] | null;
  intervalMinutes: number;
  services: { name: string; count: number }[] | null;
}

export interface MetricInfo {
  name: string;
  tagKeys: string[] | null;
  metricType: string;
  unit: string;
  pointCount: number;
}
export interface MetricResult {
  name: string;
  unit: string;
  series: Record<string, { timestamp: string; value: number }[]>;
  truncatedGroups?: boolean;
  intervalMinutes?: number;
}
export interface MetricAnswer {
  results: MetricResult[];
  intervalMinutes: number;
}

export interface Overview {
  recentIssues: IssueGroup[] | null;
  worstEndpoints: EndpointGroup[] | null;
  hasData: boolean;
  counts: {
    endpoints: number;
    tasks: number;
    aiTraces: number;
    issues: number;
    spans: number;
    logs: number;
    metricPoints: number;
  };
}
export interface Drops {
  data: { signal: string; reason: string; count: number }[] | null;
  requests: { signal: string; outcome: string; reason: string; count: number }[] | null;
  kept: { signal: string; count: number }[] | null;
  series?: { timestamp: string; signal: string; outcome: string; reason: string; count: number }[] | null;
  lastSpan?: { name: string; serviceName: string; traceId: string; receivedAt: string } | null;
}
