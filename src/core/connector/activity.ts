/**
 * The activity of a connector-backed data source (docs/contract.md#data-source-activity, row by row): the next state
 * after an event of a start or call, and the error of a deactivated source. Pure; callers keep the state.
 */
import { ServiceError } from '../error.ts'
import { ErrorCode } from './error-code.ts'
import { startFault, type ThrownError } from './fault.ts'
import { grantMismatch } from './handshake.ts'
import type { Permission } from './permission.ts'

export type Activity = { readonly kind: 'active' } | { readonly kind: 'deactivated'; readonly because: Deactivation }

export type Deactivation =
  /** setup or preflight threw InvalidConfiguration or AccessDenied, or was denied a permission. */
  | { readonly kind: 'refused'; readonly thrown: ThrownError }
  /** setup returned no usable handlers. */
  | { readonly kind: 'noHandlers' }
  | { readonly kind: 'mismatch'; readonly required: readonly Permission[] }
  /** It cannot be started, or its capabilities differ from those that the model was made for. */
  | { readonly kind: 'broken' }
  | { readonly kind: 'capabilities' }

export type ActivityEvent =
  | { readonly kind: 'threw'; readonly from: Handler; readonly thrown: ThrownError }
  | { readonly kind: 'noHandlers' }
  /** preflight returned an unreadable target, a blank reason, a promise, or an invalid shape. */
  | { readonly kind: 'badPreflight' }
  | { readonly kind: 'mismatch'; readonly required: readonly Permission[] }
  | { readonly kind: 'unloadable' }
  | { readonly kind: 'uninstalled' }
  | { readonly kind: 'capabilitiesChanged' }
  /** The extension was reloaded, or the source introspected again: the next request may try to start it. */
  | { readonly kind: 'renewed' }

export type Handler = 'preflight' | 'setup' | 'introspect' | 'query' | 'testConnection'

export const active: Activity = { kind: 'active' }

export function activityAfter(activity: Activity, event: ActivityEvent): Activity {
  switch (event.kind) {
    case 'threw':
      return deactivates(event) ? deactivated({ kind: 'refused', thrown: event.thrown }) : activity
    case 'noHandlers':
      return deactivated({ kind: 'noHandlers' })
    case 'mismatch':
      return deactivated({ kind: 'mismatch', required: event.required })
    case 'badPreflight':
    case 'unloadable':
    case 'uninstalled':
      return deactivated({ kind: 'broken' })
    case 'capabilitiesChanged':
      return deactivated({ kind: 'capabilities' })
    case 'renewed':
      return active
  }
}

/** Only errors of a start deactivate, and only those that a retry cannot solve. */
function deactivates({ from, thrown }: Extract<ActivityEvent, { readonly kind: 'threw' }>): boolean {
  if (from !== 'setup' && from !== 'preflight') return false
  const { code, denied } = thrown
  return denied || code === ErrorCode.InvalidConfiguration || code === ErrorCode.AccessDenied
}

function deactivated(because: Deactivation): Activity {
  return { kind: 'deactivated', because }
}

/** The error of every request to a deactivated source. */
export function deactivatedAnswer(because: Deactivation): ServiceError {
  switch (because.kind) {
    case 'refused':
      return couldNotStart(startFault(because.thrown))
    case 'noHandlers':
      return couldNotStart(new ServiceError('invalid', 'Invalid extension configuration'))
    case 'mismatch':
      return grantMismatch(because.required)
    case 'broken':
    case 'capabilities':
      return new ServiceError('unavailable', 'Data source is deactivated')
  }
}

const NOT_STARTED = 'The extension could not be started'

/** Adds the outer message of a failed start. */
export function couldNotStart(cause: ServiceError): ServiceError {
  return new ServiceError(cause.kind, NOT_STARTED, { cause })
}

/** Returns true for errors of a source that does not run; they get no outer message of a query. */
export function isStartFailure({ kind, message, code }: ServiceError): boolean {
  return message === NOT_STARTED || code === '7001' || kind === 'unavailable'
}

/** The error of requests while a connector starts or is replaced. */
export function restarting(): ServiceError {
  return new ServiceError('unavailable', 'Data source is restarting')
}
