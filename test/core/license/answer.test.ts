/**
 * What the licensing service may say (docs/contract.md#licensing): a closed set, and everything else changes nothing.
 */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseActivation, parseValidation } from '../../../src/core/license/answer.ts'

describe('an activation', () => {
  it('is what 201 brings', () => {
    expect(parseActivation(answer(201, { activationId: 'a1', license: 'document', more: 1 }))).toEqual({
      kind: 'activated',
      activationId: 'a1',
      document: 'document',
    })
  })

  it.each(['', '.', '..', 'a b', 'a\0', 'ä', 'a'.repeat(201), 1])('has no id %j', (activationId) => {
    expect(parseActivation(answer(201, { activationId, license: 'document' }))).toMatchObject({ kind: 'fault' })
  })

  it.each([400, 403, 404, 409, 410, 429])('is refused by %i, with the message of the service', (status) => {
    expect(parseActivation(answer(status, { message: 'no\nmore\tplace' }))).toEqual({
      kind: 'fault',
      fault: { kind: 'refused', message: 'The licensing service rejects the request: no more place' },
    })
  })
})

describe('a validation', () => {
  it.each(['valid', 'expired', 'suspended', 'canceled'])('may say %s', (status) => {
    expect(parseValidation(answer(200, { status, license: 'document' }))).toEqual({
      kind: 'validated',
      verdict: status,
      document: 'document',
    })
  })

  it('needs no document to lock', () => {
    expect(parseValidation(answer(200, { status: 'suspended' }))).toMatchObject({ verdict: 'suspended' })
    expect(parseValidation(answer(200, { status: 'expired', license: null }))).toMatchObject({ verdict: 'expired' })
  })

  it('that says valid without a license is refused', () => {
    expect(parseValidation(answer(200, { status: 'valid' }))).toMatchObject({ fault: { kind: 'refused' } })
  })

  it.each([404, 410])('of an activation that is gone is %i', (status) => {
    expect(parseValidation(answer(status, { message: 'gone' }))).toEqual({ kind: 'unknown' })
  })

  it('is refused by any other 4xx', () => {
    expect(parseValidation(answer(403, { status: 'canceled' }))).toMatchObject({ fault: { kind: 'refused' } })
  })
})

describe.each([
  ['activation', parseActivation],
  ['validation', parseValidation],
])('an %s', (_, parse) => {
  it.each([
    ['a 5xx, whatever it says', answer(503, { status: 'canceled' }), 'it answered 503'],
    ['a redirect', answer(302, ''), 'it answered 302'],
    [
      'HTML',
      { kind: 'answer', status: 200, body: '<h1>Welcome</h1>' } as const,
      'the response is not that of a licensing service',
    ],
    ['JSON of something else', answer(200, { ok: true }), 'the response is not that of a licensing service'],
    [
      'another status word',
      answer(200, { status: 'Valid', license: 'x' }),
      'the response is not that of a licensing service',
    ],
    ['no connection', { kind: 'unreachable', reason: 'no connection' } as const, 'no connection'],
  ])('takes %s for unreachable', (_what, delivery, reason) => {
    const message = `The licensing service cannot be reached (SERVICE_LICENSE__URL): ${reason}`

    expect(parse(delivery)).toEqual({ kind: 'fault', fault: { kind: 'unreachable', message } })
  })

  it('never locks by anything but 200 or 201 and the closed set', () => {
    const words = ['valid', 'expired', 'suspended', 'canceled']
    const body = fc.oneof(
      fc.json(),
      fc.string(),
      fc.record({ status: fc.constantFrom(...words), license: fc.string() }).map((value) => JSON.stringify(value)),
    )

    return fc.assert(
      fc.property(fc.integer({ min: 100, max: 599 }), body, (status, text) => {
        const { kind } = parse({ kind: 'answer', status, body: text })

        if (status !== 200 && status !== 201) expect(['fault', 'unknown']).toContain(kind)
      }),
    )
  })
})

function answer(status: number, value: unknown) {
  return { kind: 'answer', status, body: JSON.stringify(value) } as const
}
