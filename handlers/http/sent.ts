/**
 * Bodies, which whoever sends them may hold back for long: they count with the rights of when they are there
 * (docs/contract.md#credentials). Who may not send one is refused before it is read.
 */
import type { Eventual } from '../../src/core/and-then.ts'

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
 * Runs `work`, which asks for the body behind its checks of rights and before anything else, and so runs twice: without
 * the body, which is read where the checks have passed, and with it.
 */
export async function withSent<Scope, Sent, T>(
  enter: Enter<Scope>,
  read: () => Promise<Sent>,
  work: (scope: Scope, sent: () => Promise<Sent>) => Promise<T>,
): Promise<T> {
  let come: { readonly body: Sent } | undefined
  const asked = new Error('the body has come')
  const first = await enter()
  try {
    return await work(first, async () => {
      come = { body: await read() }
      throw asked
    })
  } catch (error) {
    if (error !== asked || come === undefined) throw error
    const { body } = come
    return work(await enter(), async () => body)
  }
}
