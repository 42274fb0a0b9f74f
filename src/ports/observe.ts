/** What operators are told. */
import type { Mail } from './accounts.ts'
import type { ConnectorLine } from './connectors.ts'

/** An event for the operator; the platform decides what to print and what to count. */
export type Observation =
  | {
      readonly kind: 'request'
      readonly requestId: string
      readonly method: string
      /** The requested path without its query. */
      readonly path: string
      /** The matched route pattern, such as `/api/:workspace/roles/:id`. */
      readonly route: string
      readonly status: number
      readonly milliseconds: number
      /** True if the caller can fix the cause of this status of 500 or above. */
      readonly isCallers?: boolean
      /** The W3C `traceparent` header; set only when tracing is on. */
      readonly traceparent?: string | undefined
    }
  /** A request that took longer than SERVICE_LOG__SLOW, with the parts of its time in milliseconds; it holds no values. */
  | {
      readonly kind: 'slow'
      readonly requestId: string
      readonly method: string
      readonly route: string
      /** The collection that the path names. */
      readonly collection?: string
      readonly milliseconds: number
      readonly auth: number
      readonly plan: number
      /** Of the database, or of the connector, and of what was waited for meanwhile. */
      readonly source: number
    }
  | { readonly kind: 'fault'; readonly requestId?: string; readonly error: unknown }
  | { readonly kind: 'warning'; readonly message: string }
  /** How many data sources of the instance differ from their models; for metrics, not for the log. */
  | { readonly kind: 'drift'; readonly sources: number }
  | ({ readonly kind: 'connector' } & ConnectorLine)
  /** A mail that is printed instead of sent, in the local run (SERVICE_MAIL__URL is `log:`). */
  | { readonly kind: 'mail'; readonly mail: Mail }

export type Observe = (observation: Observation) => void
