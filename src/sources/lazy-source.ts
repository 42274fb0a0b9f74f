/** A source that is opened on first use. */
import type { ListAnswer, LongAnswer, Prepared, Source } from './source.ts'

const unknown = async () => null

export function lazySource(open: () => Promise<Source>): Source {
  /** Prepares for the currently open source, and again after it was reopened. */
  function prepared<Answer>(prepare: (source: Source) => Prepared<Answer>): Prepared<Answer> {
    let known: { readonly source: Source; readonly run: Prepared<Answer> } | undefined
    const run: Prepared<Answer> = async (bindings, options) => {
      const source = await open()
      if (known?.source !== source) known = { source, run: prepare(source) }
      run.weight = known.run.weight
      return known.run(bindings, options)
    }
    return run
  }

  return {
    // Whether the source supports streaming is known only once it is open.
    prepareLong: (plan) =>
      prepared<ListAnswer | LongAnswer>((source) => source.prepareLong?.(plan) ?? source.prepareList(plan)),
    prepareList: (plan) => prepared((source) => source.prepareList(plan)),
    prepareEstimate: (plan) => prepared((source) => source.prepareEstimate?.(plan) ?? unknown),
    prepareOne: (plan) => prepared((source) => source.prepareOne(plan)),
    prepareChanges: (plan, changes) =>
      prepared((source) => source.prepareChanges?.(plan, changes) ?? (() => Promise.reject(unrecorded()))),
    prepareBatch: (plan) => prepared((source) => source.prepareBatch(plan)),
    writeOnce: async (write) => (await open()).writeOnce(write),
    heldTexts: async (column, texts, options) => (await open()).heldTexts?.(column, texts, options) ?? texts,
    repeatsByKey: async (collection) => (await open()).repeatsByKey?.(collection) ?? false,
  }
}

function unrecorded(): Error {
  return new TypeError('the source records no changes')
}
