/** What `handlers/http/sent.ts` does around a body: whoever may not send one is refused before it, and by the rights behind it. */
import { expect, it } from 'vitest'
import { withSent } from '../../handlers/http/sent.ts'

type Scope = { readonly snapshot: { readonly version: number }; readonly rights: ReadonlySet<string> }

const rights = new Set(['edit'])

/** What is done, in its order, where each entrance answers the next scope. */
async function doneIn(...scopes: readonly Scope[]) {
  const done: string[] = []
  let entered = 0
  const answer = await withSent(
    async () => {
      done.push('enter')
      return scopes[entered++] ?? { snapshot: { version: 0 }, rights: new Set<string>() }
    },
    async () => {
      done.push('read')
      return 'body'
    },
    async (scope, sent) => {
      done.push('check')
      if (!scope.rights.has('edit')) throw new Error('refused')
      done.push(await sent())
      return scope.snapshot.version
    },
  ).catch((error: Error) => error.message)
  return { done, answer }
}

it('a body is asked for once, behind one check, where its sender is who they were', async () => {
  const { done, answer } = await doneIn({ snapshot: { version: 1 }, rights }, { snapshot: { version: 1 }, rights })

  expect(done).toEqual(['enter', 'check', 'read', 'enter', 'body'])
  expect(answer).toBe(1)
})

it.each([
  ['another version', { snapshot: { version: 2 }, rights }, ['check', 'body'], 2],
  ['other rights', { snapshot: { version: 1 }, rights: new Set(['edit', 'read']) }, ['check', 'body'], 1],
  ['no right any more', { snapshot: { version: 1 }, rights: new Set<string>() }, ['check'], 'refused'],
])('where its sender has %s behind it, they are checked again', async (_, then, after, expected) => {
  const { done, answer } = await doneIn({ snapshot: { version: 1 }, rights }, then)

  expect(done).toEqual(['enter', 'check', 'read', 'enter', ...after])
  expect(answer).toBe(expected)
})

it('a body is not read of whom may not send it', async () => {
  const { done, answer } = await doneIn({ snapshot: { version: 1 }, rights: new Set() })

  expect(done).toEqual(['enter', 'check'])
  expect(answer).toBe('refused')
})
