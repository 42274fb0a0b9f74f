/** Names that only the platform's `lookup` can resolve, one after the other: of its two threads one is left to the operator. */
import type { LookupFunction } from 'node:net'

type Lookup = { readonly start: () => void; readonly callbacks: Parameters<LookupFunction>[2][] }

/**
 * `resolve`, called for one name at a time; whoever asks for a name that is waiting or being resolved gets that answer. Fails with
 * EAI_AGAIN, as where a name server does not answer, when the turn does not come within `patience` milliseconds.
 */
export function oneAtATime(resolve: LookupFunction, patience: number): LookupFunction {
  /** In the order they came; the first is being resolved. */
  const line = new Map<string, Lookup>()

  return (host, options, callback) => {
    const key = JSON.stringify([host, options])
    const same = line.get(key)
    if (same !== undefined) {
      same.callbacks.push(callback)
      return
    }
    const callbacks = [callback]
    const answer = (...found: Parameters<typeof callback>) => {
      for (const each of callbacks) each(...found)
    }
    const timer = setTimeout(() => {
      line.delete(key)
      answer(notResolved(host), [])
    }, patience)
    const start = () => {
      clearTimeout(timer)
      resolve(host, options, (...found) => {
        line.delete(key)
        const [next] = line.values()
        next?.start()
        answer(...found)
      })
    }
    line.set(key, { start, callbacks })
    if (line.size === 1) start()
  }
}

/** As the platform's `lookup` fails where a name server does not answer. */
export function notResolved(host: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${host} was not resolved`), { code: 'EAI_AGAIN', syscall: 'getaddrinfo' })
}

/** As the platform's `lookup` fails where there is no such name. */
export function unknownName(host: string): NodeJS.ErrnoException {
  const detail = { code: 'ENOTFOUND', syscall: 'getaddrinfo', hostname: host }
  return Object.assign(new Error(`getaddrinfo ENOTFOUND ${host}`), detail)
}
