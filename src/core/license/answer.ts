/**
 * Parses answers of the licensing service (docs/contract.md#licensing): HTTP status and body in, one of a closed set of
 * results out. Only the recognised results change the state of the license; everything else is a contact fault.
 */
import * as z from 'zod'
import { jsonIn } from '../json-object.ts'
import { lazily } from '../lazily.ts'
import type { ContactFault, Verdict } from './status.ts'

/** An HTTP response, or the reason why there is none. */
export type LicensingResponse =
  | { readonly kind: 'answer'; readonly status: number; readonly body: string }
  | { readonly kind: 'unreachable'; readonly reason: string }

export type LicensingAnswer =
  | { readonly kind: 'activated'; readonly activationId: string; readonly document: string }
  /** `document` is always present with `valid`, and optional with the other verdicts. */
  | { readonly kind: 'validated'; readonly verdict: Verdict; readonly document: string | undefined }
  /** The validated activation does not exist, or no longer exists. */
  | { readonly kind: 'unknown' }
  | { readonly kind: 'fault'; readonly fault: ContactFault }

/** A segment of a path; dots alone would lead to another one. */
const ACTIVATION_ID = /^(?!\.\.?$)[\x21-\x7e]{1,200}$/

const activation = lazily(() => z.object({ activationId: z.string().regex(ACTIVATION_ID), license: z.string().min(1) }))

const validation = lazily(() =>
  z.object({
    status: z.enum(['valid', 'expired', 'suspended', 'canceled']),
    license: z.string().min(1).nullish(),
  }),
)

export function parseActivation(response: LicensingResponse): LicensingAnswer {
  if (response.kind === 'unreachable') return unreachable(response.reason)
  if (response.status !== 201 && response.status !== 200) return notDone(response)
  const { success, data } = activation().safeParse(jsonIn(response.body))
  return success ? { kind: 'activated', activationId: data.activationId, document: data.license } : unrecognised()
}

export function parseValidation(response: LicensingResponse): LicensingAnswer {
  if (response.kind === 'unreachable') return unreachable(response.reason)
  if (response.status === 404 || response.status === 410) return { kind: 'unknown' }
  if (response.status !== 200) return notDone(response)
  const { success, data } = validation().safeParse(jsonIn(response.body))
  if (!success) return unrecognised()
  const document = data.license ?? undefined
  if (data.status === 'valid' && document === undefined) return refused('it reports a valid license but returned none')
  return { kind: 'validated', verdict: data.status, document }
}

export function refused(reason: string): LicensingAnswer & { readonly kind: 'fault' } {
  return { kind: 'fault', fault: { kind: 'refused', message: `The licensing service rejects the request: ${reason}` } }
}

function unreachable(reason: string): LicensingAnswer {
  const message = `The licensing service cannot be reached (SERVICE_LICENSE__URL): ${reason}`
  return { kind: 'fault', fault: { kind: 'unreachable', message } }
}

function notDone({ status, body }: Extract<LicensingResponse, { kind: 'answer' }>): LicensingAnswer {
  if (status < 400 || status >= 500) return unreachable(`it answered ${status}`)
  const { success, data } = z.object({ message: z.string() }).safeParse(jsonIn(body))
  return refused(success ? oneLine(data.message) : `it answered ${status}`)
}

/** An answer that the licensing service never gives, such as the error page of a proxy. */
function unrecognised(): LicensingAnswer {
  return unreachable('the response is not that of a licensing service')
}

/** Shortens foreign text for the log and for administrators. */
function oneLine(message: string): string {
  return message
    .replace(/\p{Cc}+/gu, ' ')
    .trim()
    .slice(0, 300)
    .toWellFormed()
}
