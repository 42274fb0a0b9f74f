import fc from 'fast-check'
import { expect, it } from 'vitest'
import { ServiceError } from '../../../src/core/error.ts'
import { parseMigration } from '../../../src/core/migration/operation.ts'

/** What parsing throws, or undefined. */
function thrownBy(text: string): unknown {
  try {
    parseMigration(text)
    return undefined
  } catch (error) {
    return error
  }
}

const isRefusal = (error: unknown) => error instanceof ServiceError && error.kind === 'invalid'

it('answers any bytes with ServiceError invalid and nothing else', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      expect(thrownBy(new TextDecoder().decode(bytes))).toSatisfy(isRefusal)
    }),
  )
})

it('answers any JSON where operations should be with ServiceError invalid and nothing else', () => {
  const kinds = fc.constantFrom(
    'createCollection',
    'updateCollection',
    'deleteCollection',
    'createRelationFieldPair',
    'x',
  )
  const operations = fc.array(fc.record({ kind: kinds, data: fc.jsonValue({ maxDepth: 4 }) }), {
    minLength: 1,
    maxLength: 3,
  })
  const bodies = fc.oneof(
    fc.jsonValue(),
    fc.record({ operations }),
    fc.record({ operations: fc.array(fc.jsonValue(), { minLength: 1 }) }),
  )

  fc.assert(
    fc.property(bodies, (body) => {
      expect(thrownBy(JSON.stringify(body))).toSatisfy(isRefusal)
    }),
  )
})

it('reads brackets of any depth without running out of stack', () => {
  const text = `{"operations": ${'['.repeat(200_000)}${']'.repeat(200_000)}}`

  expect(thrownBy(text)).toSatisfy(isRefusal)
})
