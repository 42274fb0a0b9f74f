/**
 * Who is signed in. Before that the service is asked for `system/info` and, by the link of an invitation, what that is for.
 * Cookies that are gone answer as anonymous, with 403 or the rows that everybody may see, so that after every refusal, when the
 * page is shown again, and every minute it is looked whether somebody is still signed in.
 */
import { computed, signal } from '@preact/signals'
import type { ServiceError } from 'governed-data-client'
import { instance, system, whenRefused } from './client.ts'
import { queries } from './queries.ts'
import { forgetUnsaved } from './unsaved.ts'

export type License = {
  readonly status: string
  readonly plan?: string
  /** `key` where a licensing service is asked. */
  readonly source?: string
  readonly expiresAt?: string | null
  readonly graceEndsAt?: string | null
  readonly lastValidatedAt?: string | null
  readonly reachable?: boolean
  readonly warnings?: readonly LicenseWarning[]
}

/** Of usage above a soft limit with what is counted, and where. */
export type LicenseWarning = {
  readonly kind: string
  readonly message: string
  readonly entitlement?: string
  readonly usage?: number | boolean
  readonly limit?: number | boolean | null
  readonly workspace?: string
}

export type Info = {
  readonly name: string
  /** Where mails do not go out: they are in the log, or nowhere. */
  readonly mail?: 'log' | 'none'
  readonly onboarding?: { readonly requireCreateUser: boolean }
  readonly version?: string
  /** The time of the service. */
  readonly now?: string
  readonly license?: License
  readonly warnings?: readonly { readonly kind: string; readonly workspace?: string }[]
}

export type User = {
  readonly id: string
  readonly email: string
  readonly fullName: string | null
  readonly isAdministrator: boolean
}

export type Session =
  | { readonly kind: 'starting' }
  | { readonly kind: 'unreachable'; readonly error: ServiceError }
  | { readonly kind: 'unclaimed' }
  | { readonly kind: 'anonymous' }
  /** `isLost`: nobody is signed in any more, while what was typed is still on the screen. */
  | { readonly kind: 'signedIn'; readonly user: User; readonly info: Info; readonly isLost: boolean }

export const session = signal<Session>({ kind: 'starting' })

/** Undefined where mails go out. */
export const mailless = signal<Info['mail']>(undefined)

/** Empty while nobody is. */
export const userId = computed(() => (session.value.kind === 'signedIn' ? session.value.user.id : ''))

const CHECK_INTERVAL = 60_000

/** Other tabs of this browser. */
const tabs = new BroadcastChannel('console.session')

let lastCheck = 0
let checking: Promise<void> | undefined

/** Looks who is signed in, once for all who ask meanwhile. */
export function checkSession(): Promise<void> {
  checking ??= look().finally(() => {
    checking = undefined
  })
  return checking
}

async function look(): Promise<void> {
  lastCheck = Date.now()
  let info = await infoNow()
  // The refusal has taken the cookies away, so that the next answer is the anonymous one.
  if (!info.ok && info.status === 401) info = await infoNow()
  const before = session.value
  if (!info.ok) {
    // Whoever is signed in keeps what is on the screen; the next call says what is wrong.
    if (before.kind !== 'signedIn') session.value = { kind: 'unreachable', error: info.error }
    return
  }
  mailless.value = info.data.mail
  if (info.data.version === undefined) {
    if (before.kind === 'signedIn') session.value = { ...before, isLost: true }
    else session.value = { kind: info.data.onboarding === undefined ? 'anonymous' : 'unclaimed' }
    return
  }
  const me = await instance.$auth.me()
  if (!me.ok) {
    if (before.kind !== 'signedIn') session.value = { kind: 'unreachable', error: me.error }
    return
  }
  // Nothing of another person may stay on the screen.
  if (before.kind === 'signedIn' && before.user.id !== me.data.id) location.assign('/')
  else session.value = { kind: 'signedIn', user: me.data, info: info.data, isLost: false }
}

const infoNow = () => system.info() as unknown as Promise<InfoResult>

type InfoResult =
  | { readonly ok: true; readonly status: number; readonly data: Info }
  | { readonly ok: false; readonly status: number; readonly error: ServiceError }

/** Looks at once, and from then on whenever the session may have ended. */
export async function startSession(): Promise<void> {
  const isOpen = () => session.value.kind === 'signedIn' && !session.value.isLost
  whenRefused(() => {
    if (isOpen() && checking === undefined) void checkSession()
  })
  tabs.addEventListener('message', () => void checkSession())
  const checkWhenDue = () => {
    if (document.visibilityState === 'visible' && isOpen() && Date.now() - lastCheck >= CHECK_INTERVAL)
      void checkSession()
  }
  document.addEventListener('visibilitychange', checkWhenDue)
  setInterval(checkWhenDue, CHECK_INTERVAL)
  await checkSession()
}

/** After signing in, here or by a link. */
export async function sessionOpened(): Promise<void> {
  await checkSession()
  tabs.postMessage('opened')
}

/** Ends the session; nothing of it stays in memory, nor in the browser what was typed and not saved. */
export async function signOut(): Promise<void> {
  const answer = await instance.$auth.logout()
  if (!answer.ok && answer.status !== 401 && answer.status !== 422) throw answer.error
  queries.clear()
  forgetUnsaved()
  session.value = { kind: 'anonymous' }
  tabs.postMessage('ended')
}
