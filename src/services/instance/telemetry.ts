/**
 * Anonymous telemetry (docs/contract.md#telemetry): sent once a day per instance, whatever the number of replicas, and
 * only if a URL is configured. docs/operations.md lists everything that is sent.
 */
import type { Config } from '../../config.ts'
import type { Ports } from '../../ports/ports.ts'
import { claimPost, loadTelemetryCounts } from '../../store/telemetry.ts'
import { VERSION } from './release.ts'

export type Telemetry = {
  /** Sends a due report. Never throws: failures are observed, and the next day's report is tried again. */
  report(): Promise<void>
}

export type TelemetryDeps = {
  readonly ports: Pick<Ports, 'database' | 'clock' | 'observe' | 'telemetry'>
  readonly config: Config
}

export function createTelemetry(deps: TelemetryDeps): Telemetry {
  const { ports, config } = deps
  const { database, clock, observe, telemetry } = ports
  const url = config.SERVICE_TELEMETRY__ENABLED ? config.SERVICE_TELEMETRY__URL : undefined

  return {
    async report() {
      if (url === undefined) return
      try {
        const id = await claimPost(database, clock.now())
        if (id === undefined) return
        const counts = await loadTelemetryCounts(database)
        await telemetry.post(url, JSON.stringify({ id, version: VERSION, platform: telemetry.platform, counts }))
      } catch (cause) {
        observe({
          kind: 'warning',
          message: `Telemetry was not posted: ${cause instanceof Error ? cause.message : ''}`,
        })
      }
    },
  }
}
