/** The receivers of a Node process's observations: its log, Prometheus and OpenTelemetry, as configured. */
import type { Config, Environment } from '../../../config.ts'
import type { Observe } from '../../../ports/observe.ts'
import { isTraced } from './tracing-variables.ts'

export type Observing = {
  readonly observe: Observe
  readonly isTraced: boolean
  /** Returns the text for Prometheus; absent unless metrics are enabled. */
  readonly metrics: (() => Promise<string>) | undefined
  readonly close: () => Promise<void>
}

type Options = {
  readonly log: Observe
  readonly config: Config
  readonly environment: Environment
  readonly version: string
}

export async function openObserving({ log, config, environment, version }: Options): Promise<Observing> {
  // Loaded only if used: each takes longer to load than the rest of the service.
  const metrics = config.SERVICE_METRICS__ENABLED ? (await import('./metrics.ts')).createMetrics() : undefined
  const tracing = isTraced(environment)
    ? (await import('./tracing.ts')).openTracing({ environment, version })
    : undefined
  const others = [metrics?.observe, tracing?.observe].filter((observe) => observe !== undefined)
  return {
    observe:
      others.length === 0
        ? log
        : (observation) => {
            log(observation)
            for (const observe of others) observe(observation)
          },
    isTraced: tracing !== undefined,
    metrics: metrics?.text,
    close: async () => tracing?.close(),
  }
}
