/** Metrics of this process in the Prometheus text format. Requests are labelled by route, never by path. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { Observe } from '../../../ports/observe.ts'

export type Metrics = {
  readonly observe: Observe
  readonly text: () => Promise<string>
}

/** In seconds: from a warm point read to the longest useful wait. */
const BUCKETS = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 30]

export function createMetrics(): Metrics {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })
  const requests = new Histogram({
    name: 'service_http_request_duration_seconds',
    help: 'Requests, by the time until they were answered.',
    labelNames: ['method', 'route', 'status'] as const,
    buckets: BUCKETS,
    registers,
  })
  const faults = new Counter({
    name: 'service_faults_total',
    help: 'Faults of the service or of a data source.',
    registers,
  })
  const warnings = new Counter({ name: 'service_warnings_total', help: 'Warnings in the log.', registers })
  const drifted = new Gauge({
    name: 'service_drifted_sources',
    help: 'Data sources whose schema was changed outside of the service and not imported.',
    registers,
  })

  return {
    observe(observation) {
      if (observation.kind === 'request') {
        const { method, route, status, milliseconds } = observation
        requests.observe({ method: known(method), route, status: String(status) }, milliseconds / 1_000)
      } else if (observation.kind === 'fault') faults.inc()
      else if (observation.kind === 'warning') warnings.inc()
      else if (observation.kind === 'drift') drifted.set(observation.sources)
    },
    text: () => registry.metrics(),
  }
}

const methods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'QUERY', 'POST', 'PATCH', 'DELETE', 'PUT', 'OPTIONS'])

/** Clients may invent methods, and each label value is kept for ever. */
function known(method: string): string {
  return methods.has(method) ? method : 'other'
}
