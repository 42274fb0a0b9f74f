/** Loads the code for writes with an idempotency key on the first such write, since most requests have no key (decision 068). */
import type { OnceWrites, OnceWritesDeps } from './once/once-request.ts'
import type { WatchRights } from './once/rights.ts'

export type LoadOnce = () => Promise<{ readonly watched: WatchRights; readonly writes: OnceWrites }>

export type LoadOnceDeps = OnceWritesDeps

export function createLoadOnce(deps: LoadOnceDeps): LoadOnce {
  let loaded: ReturnType<LoadOnce> | undefined
  return () => {
    loaded ??= import('./once/once.ts').then(({ createOnceWrites, watched }) => ({
      watched,
      writes: createOnceWrites(deps),
    }))
    return loaded
  }
}
