/**
 * Bodies, which whoever sends them may hold back for long: they count with the rights of when they are there
 * (docs/contract.md#credentials). Who may not send one is refused before it is read.
 */
import type { Eventual } from '../../src/core/and-then.ts'
import { isObject } from '../../src/core/json-object.ts'

/** What enters a request: whoever asks, authorized. */
type Enter<Scope> = () => Eventual<Scope>

/** Returns the scope in which a body counts, which `reenter` answers behind it, and the body. */
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
 * Runs `work`, which asks for the body behind its checks of rights and before anything else. Where its sender is not who they were
 * once the body has come, the checks are made of who they are now: `work` begins again, and has the body.
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

/** Of anything but plain objects and lists, only the same one is. */
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
