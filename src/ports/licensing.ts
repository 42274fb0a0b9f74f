/** The licensing service, telemetry, and what wakes the instance for them. */
import type { LicensingResponse } from '../core/license/answer.ts'
import type { Instant } from './clock.ts'

/** The licensing service over HTTP. */
export interface LicensingClient {
  /**
   * Posts a value as JSON and returns the response, whatever its status. A network error, a timeout or a status of 500
   * and above is retried three times, first after 250 ms; then the last result is returned. Never throws
   * (docs/contract.md#licensing).
   */
  post(url: string, value: unknown): Promise<LicensingResponse>
}

/** Wakes the instance for work that is due: an alarm of a Durable Object on Workers, a timer on Node. */
export interface Alarm {
  /** Schedules a wake-up at `at` or soon after. An earlier scheduled time stays. */
  set(at: Instant): Promise<void>
}

/** Posts telemetry reports (docs/contract.md#telemetry). */
export interface TelemetryPort {
  readonly platform: 'node' | 'workers'
  /** Posts JSON text once. Throws an Error, whose message omits the address, unless the status is a success. */
  post(url: string, body: string): Promise<void>
}

export type LicensingPorts = {
  readonly client: LicensingClient
  readonly alarm: Alarm
  readonly pause: (milliseconds: number) => Promise<void>
  /** Identifies this start of the instance: a process on Node, a deployed version on Workers. */
  readonly startId: string
}
