/** Apart from tracing.ts, so that nothing of OpenTelemetry is loaded where nobody asks for traces. */
import type { Environment } from '../../../config.ts'

/** Whether the environment asks for traces. */
export function isTraced(environment: Environment): boolean {
  const { OTEL_SDK_DISABLED, OTEL_TRACES_EXPORTER, OTEL_EXPORTER_OTLP_ENDPOINT } = environment
  if (OTEL_SDK_DISABLED === 'true' || OTEL_TRACES_EXPORTER === 'none') return false
  return (OTEL_EXPORTER_OTLP_ENDPOINT ?? environment.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? '') !== ''
}
