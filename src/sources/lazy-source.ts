/** A source that is opened by whatever is first asked of it, and stands for the opened one from then on. */
import type { ListAnswer, LongAnswer, Prepared, Source } from './source.ts'

export function lazySource(open: () => Promise<Source>): Source {
  /** Made ready for the source that is open now; a source that was opened anew gets its own. */
  function prepared<Answer>(prepare: (source: Source) => Prepared<Answer>): Prepared<Answer> {
    let known: { readonly source: Source; readonly run: Prepared<Answer> } | undefined
    return async (bindings, options) => {
      const source = await open()
      if (known?.source !== source) known = { source, run: prepare(source) }
      return known.run(bindings, options)
    }
  }

  return {
    // Whether the source has pieces is known only when it is open.
    prepareLong: (plan) =>
      prepared<ListAnswer | LongAnswer>((source) => source.prepareLong?.(plan) ?? source.prepareList(plan)),
    prepareList: (plan) => prepared((source) => source.prepareList(plan)),
    prepareOne: (plan) => prepared((source) => source.prepareOne(plan)),
    prepareLookup: (plan, keys) => prepared((source) => source.prepareLookup(plan, keys)),
    prepareWrite: (plan) => prepared((source) => source.prepareWrite(plan)),
  }
}
