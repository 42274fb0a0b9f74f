/** Separate from tracing.ts, so that OpenTelemetry is not loaded unless tracing is on. */
import type { Environment } from '../../../config.ts'

/** Whether the environment enables tracing. */
export function isTraced(environment: Environment): boolean {
  const { OTEL_SDK_DISABLED, OTEL_TRACES_EXPORTER, OTEL_EXPORTER_OTLP_ENDPOINT } = environment
  if (OTEL_SDK_DISABLED === 'true' || OTEL_TRACES_EXPORTER === 'none') return false
  return (OTEL_EXPORTER_OTLP_ENDPOINT ?? environment.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? '') !== ''
}
