/**
 * Authorization around request bodies: a sender may hold back a body for long, so the rights at its arrival count
 * (docs/contract.md#credentials). A caller that may not send the body is refused before it is read.
 */
import type { Eventual } from '../../src/core/and-then.ts'
import { isObject } from '../../src/core/json-object.ts'

/** Identifies and authorizes the caller. */
type Enter<Scope> = () => Eventual<Scope>

/** Reads the body, and returns it with the scope from `reenter` after its arrival. */
export async function readIn<Scope, Sent>(
  enter: Enter<Scope>,
  read: () => Promise<Sent>,
  reenter = enter,
): Promise<[Scope, Sent]> {
  await enter()
  const sent = await read()
  return [await reenter(), sent]
}

/**
 * Runs `work`, which requests the body after its checks of rights and before anything else. If the sender's rights have changed
 * when the body has arrived, runs `work` again with the new scope and the same body.
 */
export async function withSent<Scope, Sent, T>(
  enter: Enter<Scope>,
  read: () => Promise<Sent>,
  work: (scope: Scope, sent: () => Promise<Sent>) => Promise<T>,
): Promise<T> {
  let changed: { readonly scope: Scope; readonly body: Sent } | undefined
  const again = new Error('the sender has changed')
  const first = await enter()
  try {
    return await work(first, async () => {
      const body = await read()
      const scope = await enter()
      if (isSame(first, scope)) return body
      changed = { scope, body }
      throw again
    })
  } catch (error) {
    if (error !== again || changed === undefined) throw error
    const { scope, body } = changed
    return work(scope, async () => body)
  }
}

/** Compares plain objects and lists deeply; everything else by identity. */
function isSame(one: unknown, other: unknown): boolean {
  if (Object.is(one, other)) return true
  if (!isPlain(one) || !isPlain(other) || Array.isArray(one) !== Array.isArray(other)) return false
  const names = Object.keys(one)
  if (names.length !== Object.keys(other).length) return false
  return names.every((name) => Object.hasOwn(other, name) && isSame(one[name], other[name]))
}

function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  if (!isObject(value)) return Array.isArray(value)
  return Object.getPrototypeOf(value) === Object.prototype
}
