/** The codes of a device sign-in: creates them, shows them to the approver, decides on them, and exchanges them for tokens. */

import { ServiceError } from '../../core/error.ts'
import { parseJson } from '../../core/exact-json.ts'
import type { Ports } from '../../ports/ports.ts'
import type { AuditStatement } from '../../store/audit.ts'
import {
  approveDevice,
  askDevice,
  denyDevice,
  findWaitingDevice,
  insertDeviceSignIn,
  takeDeviceSession,
} from '../../store/device-sign-ins.ts'
import { type AuditEvent, actorOf, recordEvent } from '../caller/audit.ts'
import { type Caller, requireUser, sessionOf } from '../caller/caller.ts'
import { sha256Hex } from '../caller/digest.ts'
import type { LoginAttempt, Throttle } from '../caller/throttle.ts'
import { invalidToken } from '../caller/tokens.ts'
import { newToken } from './one-time-tokens.ts'
import type { LoginResult, SessionClient, Sessions } from './sessions.ts'

/** `expires` and `interval` in seconds. */
export type DeviceCodes = {
  readonly deviceCode: string
  readonly userCode: string
  readonly expires: number
  readonly interval: number
}

export type DeviceDecision = { readonly userCode: string; readonly approve: boolean }

export type DeviceSignInDeps = {
  readonly ports: Pick<Ports, 'clock' | 'database' | 'ids'>
  readonly sessions: Sessions
  readonly throttle: Throttle
}

const LIFETIME = 10 * 60_000
const INTERVAL = 5_000
/** Milliseconds of tolerance, so that a device that waits for the interval is not refused because of varying latency. */
const LEEWAY = 1_000

/** No vowels, so that no words result, and no letters that look like digits (RFC 8628, 6.1): 34 bits. */
const LETTERS = 'BCDFGHJKLMNPQRSTVWXZ'
const CODE_LENGTH = 8

type Approver = { readonly caller: Caller; readonly address: string | undefined }

export async function startDevice(
  { ports: { clock, database }, throttle }: DeviceSignInDeps,
  name: string | undefined,
  client: SessionClient,
): Promise<DeviceCodes> {
  await throttle.admit(client.address)
  const deviceCode = newToken()
  const deviceHash = await sha256Hex(deviceCode)
  const expiresAt = clock.now() + LIFETIME
  for (;;) {
    const userCode = newUserCode()
    const userHash = await digestOf(userCode)
    if (await insertDeviceSignIn(database, { deviceHash, userHash, name: name ?? null, client, expiresAt })) {
      return { deviceCode, userCode, expires: LIFETIME / 1_000, interval: INTERVAL / 1_000 }
    }
  }
}

export async function takeTokens(
  { ports: { database, ids }, sessions }: DeviceSignInDeps,
  deviceCode: string,
): Promise<LoginResult | { readonly interval: number }> {
  const deviceHash = await sha256Hex(deviceCode)
  const state = await askDevice(database, { deviceHash, interval: INTERVAL - LEEWAY })
  if (state === undefined) throw invalidToken()
  if (state.kind === 'denied') throw new ServiceError('forbidden', 'The sign-in was declined')
  if (state.kind === 'hasty') {
    const meta = { retryAfter: INTERVAL / 1_000 }
    throw new ServiceError('throttled', 'Too many attempts, try again later', { meta })
  }
  if (state.kind !== 'approved') return { interval: INTERVAL / 1_000 }
  const { id, userId } = state.session
  const session = { id, userId, refreshTokenId: ids.next(), expiresAt: sessions.end() }
  const record: AuditStatement = (provided) =>
    recordEvent(
      ids,
      { action: 'auth.login.v1', actor: { kind: 'user', id: userId }, payload: { method: 'device', sessionId: id } },
      provided,
    )
  if (!(await takeDeviceSession(database, { deviceHash, session }, record))) throw invalidToken()
  return sessions.issue(session)
}

export async function findDevice(deps: DeviceSignInDeps, approver: Approver, userCode: string): Promise<string> {
  requireSession(approver.caller)
  return waiting(deps, approver, userCode)
}

export async function decideDevice(
  deps: DeviceSignInDeps,
  approver: Approver,
  { userCode, approve }: DeviceDecision,
): Promise<void> {
  const { database, ids } = deps.ports
  const by = requireSession(approver.caller)
  const device = parseJson(await waiting(deps, approver, userCode)) as object
  const userHash = await digestOf(userCode)
  const openedId = ids.next()
  const event = { actor: actorOf(approver.caller), address: approver.address } as const
  const isDecided = approve
    ? await approveDevice(
        database,
        { userHash, by, openedId },
        recorder(deps, {
          ...event,
          action: 'auth.device_approve.v1',
          target: { type: 'session', id: openedId },
          payload: device as AuditEvent['payload'],
        }),
      )
    : await denyDevice(
        database,
        userHash,
        recorder(deps, { ...event, action: 'auth.device_deny.v1', payload: device as AuditEvent['payload'] }),
      )
  if (!isDecided) throw unknownCode()
}

/** Returns the sign-in that waits for this code. Wrong codes count for the account, whatever its session or address. */
async function waiting({ ports, throttle }: DeviceSignInDeps, approver: Approver, userCode: string): Promise<string> {
  const account = `device codes of ${requireUser(approver.caller)}`
  const attempt: LoginAttempt = { kind: 'deviceCode', account, address: approver.address, credential: account }
  await throttle.begin(attempt)
  const device = await findWaitingDevice(ports.database, await digestOf(userCode))
  await throttle.settle(attempt, { isRight: device !== undefined })
  if (device === undefined) throw unknownCode()
  return device
}

/** Requires a session: an API key may not open sessions, which outlive the key and have no scope. */
function requireSession(caller: Caller): { readonly id: string; readonly userId: string } {
  const userId = requireUser(caller)
  const id = sessionOf(caller)
  if (id !== undefined) return { id, userId }
  throw new ServiceError('forbidden', 'A device can only be signed in by a session, not by an API key')
}

function recorder({ ports }: DeviceSignInDeps, event: AuditEvent): AuditStatement {
  return (provided) => recordEvent(ports.ids, event, provided)
}

/** Codes are compared by digest, so that timing reveals nothing about them. */
function digestOf(userCode: string): Promise<string> {
  return sha256Hex(`device user code ${userCode.toUpperCase().replace(/[^A-Z]/g, '')}`)
}

/** Draws bytes until all letters are equally likely: bytes of an incomplete range are discarded. */
function newUserCode(): string {
  const most = 256 - (256 % LETTERS.length)
  let code = ''
  while (code.length < CODE_LENGTH) {
    for (const byte of crypto.getRandomValues(new Uint8Array(CODE_LENGTH))) {
      if (byte < most && code.length < CODE_LENGTH) code += LETTERS[byte % LETTERS.length]
    }
  }
  return `${code.slice(0, CODE_LENGTH / 2)}-${code.slice(CODE_LENGTH / 2)}`
}

function unknownCode(): ServiceError {
  return new ServiceError('notFound', 'Code does not exist')
}
