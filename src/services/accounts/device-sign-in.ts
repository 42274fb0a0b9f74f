/**
 * Signing in on a device without a browser (docs/contract.md#devices, decision 084). The implementation is loaded on the first
 * request (decision 036).
 */
import { deleteEndedDeviceSignIns } from '../../store/device-sign-ins.ts'
import type { Caller } from '../caller/caller.ts'
import type { DeviceCodes, DeviceDecision, DeviceSignInDeps } from './device-codes.ts'
import type { LoginResult, SessionClient } from './sessions.ts'

export type DeviceSignIn = {
  /** Throws 429 for too many requests from one address. */
  start(name: string | undefined, client: SessionClient): Promise<DeviceCodes>
  /**
   * Returns the tokens, once, or the number of seconds until the next poll. Throws 401 for an unknown, used or expired code,
   * 403 if the sign-in was declined, and 429 for polling too soon.
   */
  take(deviceCode: string): Promise<LoginResult | { readonly interval: number }>
  /** Returns the waiting sign-in as JSON text. Throws 403 without a session, 404 for an unknown code, 429 after many. */
  find(caller: Caller, userCode: string, address: string | undefined): Promise<string>
  /** Throws like `find`; of concurrent decisions the first one counts, the others get 404. */
  decide(caller: Caller, decision: DeviceDecision, address: string | undefined): Promise<void>
  /** Deletes expired sign-ins. */
  prune(): Promise<void>
}

export function createDeviceSignIn(deps: DeviceSignInDeps): DeviceSignIn {
  const load = () => import('./device-codes.ts')
  return {
    start: async (name, client) => (await load()).startDevice(deps, name, client),
    take: async (deviceCode) => (await load()).takeTokens(deps, deviceCode),
    find: async (caller, userCode, address) => (await load()).findDevice(deps, { caller, address }, userCode),
    decide: async (caller, decision, address) => (await load()).decideDevice(deps, { caller, address }, decision),
    prune: () => deleteEndedDeviceSignIns(deps.ports.database),
  }
}
