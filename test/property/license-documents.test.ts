/** License documents are believed only as they were signed, whatever is done to them. */
import fc from 'fast-check'
import { SignJWT, UnsecuredJWT } from 'jose'
import { expect, it } from 'vitest'
import { newKeyPair, signDocument } from '../../scripts/licensing/documents.ts'
import { documentReader } from '../../src/services/license/documents.ts'
import { unlimited } from '../support/service/license.ts'

const keys = await newKeyPair()
const read = documentReader(JSON.stringify(keys.publicJwk))
const genuine = await signDocument(unlimited(), keys)

it('believes a genuine one', async () => {
  expect(await read(genuine)).toMatchObject({ kind: 'license', license: { plan: 'generous' } })
})

it('believes none of which a character was changed', () => {
  return fc.assert(
    fc.asyncProperty(fc.nat(genuine.length - 1), fc.constantFrom(...'AZaz09-_.'), async (at, other) => {
      fc.pre(genuine[at] !== other)
      const changed = genuine.slice(0, at) + other + genuine.slice(at + 1)
      // The last character of a part has bits that stand for nothing.
      fc.pre(Buffer.from(changed, 'base64url').compare(Buffer.from(genuine, 'base64url')) !== 0)

      expect(await read(changed)).toMatchObject({ kind: 'fault' })
    }),
  )
})

it('believes no text, and throws for none', () => {
  return fc.assert(
    fc.asyncProperty(
      fc.oneof(
        fc.string(),
        fc.array(fc.base64String()).map((parts) => parts.join('.')),
      ),
      async (text) => {
        expect(await read(text)).toMatchObject({ kind: 'fault' })
      },
    ),
  )
})

it('believes none that somebody else has signed, and none that nobody has', async () => {
  const other = await newKeyPair()
  const { d: _private, ...embedded } = keys.privateJwk
  const faults = await Promise.all(
    [
      await signDocument(unlimited(), other),
      new UnsecuredJWT({ ...unlimited(), product: 'service' }).encode(),
      await new SignJWT({ ...unlimited(), product: 'service' })
        .setProtectedHeader({ alg: 'HS256' })
        .sign(new TextEncoder().encode(JSON.stringify(keys.publicJwk))),
      await new SignJWT({ ...unlimited(), product: 'service' })
        .setProtectedHeader({ alg: 'HS256', jwk: embedded })
        .sign(new TextEncoder().encode(embedded.x ?? '')),
    ].map(read),
  )

  expect(faults.map(({ kind }) => kind)).toEqual(['fault', 'fault', 'fault', 'fault'])
})

it('reads whatever is signed without a throw', () => {
  return fc.assert(
    fc.asyncProperty(fc.dictionary(fc.string(), fc.jsonValue()), async (payload) => {
      const { kind } = await read(await signDocument(payload, keys))

      expect(kind).toBe('fault')
    }),
  )
})

it('does not read one that is endless', async () => {
  expect(await read('x'.repeat(1_000_000))).toMatchObject({ message: 'is malformed' })
})
