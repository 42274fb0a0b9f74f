/**
 * What the licensing service said (docs/contract.md#licensing): status and body of an HTTP answer come in, one of a
 * closed set comes out. Only what is of the closed set may change the state of the license; everything else is a fault
 * of the contact.
 */
import * as z from 'zod'
import { lazily } from '../lazily.ts'
import type { ContactFault, Verdict } from './status.ts'

/** What came back over HTTP, or that nothing did. */
export type LicensingResponse =
  | { readonly kind: 'answer'; readonly status: number; readonly body: string }
  | { readonly kind: 'unreachable'; readonly reason: string }

export type LicensingAnswer =
  | { readonly kind: 'activated'; readonly activationId: string; readonly document: string }
  /** `document` goes with `valid`, and may with the others. */
  | { readonly kind: 'validated'; readonly verdict: Verdict; readonly document: string | undefined }
  /** The activation that was to be validated does not exist (any more). */
  | { readonly kind: 'unknown' }
  | { readonly kind: 'fault'; readonly fault: ContactFault }

const activation = lazily(() => z.object({ activationId: z.string().min(1).max(200), license: z.string().min(1) }))

const validation = lazily(() =>
  z.object({
    status: z.enum(['valid', 'expired', 'suspended', 'canceled']),
    license: z.string().min(1).nullish(),
  }),
)

export function parseActivation(delivery: LicensingResponse): LicensingAnswer {
  if (delivery.kind === 'unreachable') return unreachable(delivery.reason)
  if (delivery.status !== 201 && delivery.status !== 200) return notDone(delivery)
  const { success, data } = activation().safeParse(readJson(delivery.body))
  return success ? { kind: 'activated', activationId: data.activationId, document: data.license } : nonsense()
}

export function parseValidation(delivery: LicensingResponse): LicensingAnswer {
  if (delivery.kind === 'unreachable') return unreachable(delivery.reason)
  if (delivery.status === 404 || delivery.status === 410) return { kind: 'unknown' }
  if (delivery.status !== 200) return notDone(delivery)
  const { success, data } = validation().safeParse(readJson(delivery.body))
  if (!success) return nonsense()
  const document = data.license ?? undefined
  if (data.status === 'valid' && document === undefined) return refused('it calls the license valid but sends none')
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
  const { success, data } = z.object({ message: z.string() }).safeParse(readJson(body))
  return refused(success ? oneLine(data.message) : `it answered ${status}`)
}

/** Whoever answers so is something else, such as a proxy that wants to say something. */
function nonsense(): LicensingAnswer {
  return unreachable('what answers is not a licensing service')
}

function readJson(body: string): unknown {
  try {
    return JSON.parse(body) as unknown
  } catch {
    return undefined
  }
}

/** Text of somebody else's for our log and for administrators. */
function oneLine(message: string): string {
  return message
    .replace(/\p{Cc}+/gu, ' ')
    .trim()
    .slice(0, 300)
    .toWellFormed()
}
