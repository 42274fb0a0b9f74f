/**
 * Signing in on a device that has no browser (docs/contract.md#devices, decision 084). What does the work is loaded with
 * the first request for it (decision 036).
 */
import { deleteEndedDeviceSignIns } from '../../store/device-sign-ins.ts'
import type { Caller } from '../caller/caller.ts'
import type { DeviceCodes, DeviceDecision, DeviceSignInDeps } from './device-codes.ts'
import type { LoginResult, SessionClient } from './sessions.ts'

export type DeviceSignIn = {
  /** Throws 429 for too many from one address. */
  start(name: string | undefined, client: SessionClient): Promise<DeviceCodes>
  /**
   * The tokens, once, or in how many seconds to ask again. Throws 401 for an unknown code, a used one and one whose time is
   * up, 403 where the sign-in was declined, 429 where it was asked too soon.
   */
  take(deviceCode: string): Promise<LoginResult | { readonly interval: number }>
  /** The JSON text of what waits for a decision. Throws 403 without a session, 404 for an unknown code, 429 for too many of those. */
  find(caller: Caller, userCode: string, address: string | undefined): Promise<string>
  /** Throws like `find`; of concurrent decisions one counts, the others are 404. */
  decide(caller: Caller, decision: DeviceDecision, address: string | undefined): Promise<void>
  /** Deletes what nobody decided on in time. */
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
