/** That a driver serves whoever comes next, after it has ended a statement at a limit that is short. */
import { expect } from 'vitest'
import type { QueryContext } from '../../../src/ports/database.ts'

/**
 * Work of our own has no limit and is served at once. A caller has the same limit again, which a busy machine may exceed
 * without any fault of the driver.
 */
export async function expectNextServed(
  ask: (context?: QueryContext) => Promise<unknown>,
  answer: unknown,
  context: QueryContext = {},
): Promise<void> {
  const own = [await ask()]
  const askAgain = async () => {
    const answered = await ask(context).catch((error: unknown) => error)
    // What was ended may have to be started again, which is not to be waited for within the limit.
    own.push(await ask())
    return answered
  }
  await expect.poll(askAgain).toEqual(answer)
  expect(own).toEqual(own.map(() => answer))
}
