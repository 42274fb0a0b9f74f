/** What failed, in words of the reader and with what to do about it; details as the service says them. */
import type { ServiceError } from 'governed-data-client'
import { formatSeconds, t } from './messages.ts'

/** `retryAfter` is in seconds, where the answer has it. */
export function explainFault(error: ServiceError, retryAfter?: number): string {
  const { fault } = t.value
  const { field, fields } = (error.meta ?? {}) as { readonly field?: unknown; readonly fields?: unknown }
  const named = [Array.isArray(fields) ? fields : field].flat().filter((one) => typeof one === 'string')
  const message = [...error.messages, named.join(', ')].filter(Boolean).join(': ')
  if (error.status === 0) return { timeout: fault.timeout, unsent: fault.unsent }[error.code ?? ''] ?? fault.network
  if (error.status === 401) return fault.unauthenticated
  if (error.status === 402) return `${fault.limit} ${message}`
  if (error.status === 403) return fault.forbidden
  if (error.status === 404) return fault.notFound
  if (error.status === 409 || error.status === 412) return `${fault.conflict} ${message}`
  if (error.status === 429) {
    return retryAfter === undefined ? fault.throttledSoon : fault.throttled(formatSeconds(retryAfter))
  }
  if (error.status === 503) return fault.unavailable
  if (error.status >= 500) return message === 'Internal error' ? `${fault.failed} ${error.requestId ?? ''}` : message
  return `${fault.invalid} ${message}`
}

/** Whether the service says that it is this field: by `meta.fields`, or at the end of a path such as `[0].price`. */
export function isAbout({ meta, messages }: ServiceError, field: string): boolean {
  const { fields } = (meta ?? {}) as { readonly fields?: unknown }
  if (Array.isArray(fields)) return fields.includes(field)
  return messages.some((message) => /^\S+$/.test(message) && message.split(/[.[\]]+/).at(-1) === field)
}

/** The `Retry-After` of an answer that failed, in seconds. */
export function retryAfterOf(answer: { readonly headers?: Headers }): number | undefined {
  const seconds = Number(answer.headers?.get('Retry-After') ?? Number.NaN)
  return Number.isFinite(seconds) && seconds > 0 ? seconds : undefined
}
