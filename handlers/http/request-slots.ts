/**
 * Bounds how many requests of one account are worked on at a time (docs/contract.md#limits): their answers, which may have megabytes
 * each, are made on one thread, and may wait for a database that is slow. A request counts from when all of it has arrived, so that
 * nobody takes slots by sending slowly, until its answer is ready to be sent. A download counts until it begins.
 */
import { andThen, type Eventual } from '../../src/core/and-then.ts'
import { ServiceError } from '../../src/core/error.ts'
import { type AppContext, hasBody, isDisconnected, pacing } from './request.ts'

/** Seconds. */
const AGAIN = 2

/**
 * Returns what `enter` returns, which finds out who asks, once the request has a slot, unless it has a body that is still to be
 * read, which waits for the slot itself. Whoever waited enters anew, with the rights of then. Throws 429 where that takes too long.
 */
export function inSlot<Entered>(c: AppContext, enter: () => Eventual<Entered>): Eventual<Entered> {
  return andThen(enter(), (entered) => {
    const wait = hasBody(c) && c.get('isBodyRead') !== true ? undefined : takeSlot(c)
    return wait === undefined ? entered : wait.then(enter)
  })
}

/**
 * Takes the slot of a request whose body has arrived and is not parsed yet, which would take many times its bytes while it waits.
 * Resolves at once where nobody asked yet who the caller is. Throws 429 where it takes too long.
 */
export function slotForBody(c: AppContext): Promise<void> | undefined {
  c.set('isBodyRead', true)
  return c.get('account') === undefined ? undefined : takeSlot(c)
}

/** Ends the slot of a request, if it has one. */
export function endSlot(c: AppContext): void {
  c.get('endSlot')?.()
}

function takeSlot(c: AppContext): Promise<void> | undefined {
  const slots = pacing(c)
  if (slots === undefined || c.get('endSlot') !== undefined) return undefined
  const [account = '', collection = ''] = [c.get('account'), c.req.param('collection')]
  const end = slots.takeNow(account, collection)
  if (end === undefined)
    return slots.take(account, collection, () => isDisconnected(c)).then((end) => c.set('endSlot', end), refuse)
  c.set('endSlot', end)
  return undefined
}

function refuse(): never {
  const message = 'Too many requests of this account go on at once, try again later'
  throw new ServiceError('throttled', message, { meta: { retryAfter: AGAIN } })
}
