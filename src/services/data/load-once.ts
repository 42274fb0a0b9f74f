/** Loads what writes under a key need with the first of them, since most requests have none (decision 068). */
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
