/**
 * Limits concurrent requests per account (docs/contract.md#limits): answers may have megabytes, are made on one thread, and may
 * wait for a slow database. A request takes a slot once all of it has arrived, so that slow senders hold none, until its answer
 * is ready to be sent. A download holds its slot until it begins.
 */
import { andThen, type Eventual } from '../../src/core/and-then.ts'
import { ServiceError } from '../../src/core/error.ts'
import { type AppContext, hasBody, isDisconnected, pacing } from './request.ts'

/** Seconds for `Retry-After`. */
const AGAIN = 2

/**
 * Returns the result of `enter`, which identifies the caller, once the request has a slot. A request with an unread body takes
 * its slot later, when the body has arrived. After waiting, runs `enter` again with the current rights. Throws 429 after
 * waiting too long.
 */
export function inSlot<Entered>(c: AppContext, enter: () => Eventual<Entered>): Eventual<Entered> {
  return andThen(enter(), (entered) => {
    const wait = hasBody(c) && c.get('isBodyRead') !== true ? undefined : takeSlot(c)
    return wait === undefined ? entered : wait.then(enter)
  })
}

/**
 * Takes the slot of a request whose body has arrived but is not parsed, because parsed it would take many times its bytes while
 * waiting. Resolves at once if the caller is not identified yet. Throws 429 after waiting too long.
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
