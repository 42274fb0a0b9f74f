/** What failed, as the service says it: `{message, source?, code?, meta?}` (docs/api.md#errors). */

/** `status` is 0 and `code` `network`, `timeout` or `aborted` where there was no answer. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError'
  readonly status: number
  /** The deepest. */
  readonly code: string | undefined
  /** From the outermost to the cause. */
  readonly messages: readonly string[]
  /** What all of them have, the deepest last. */
  readonly meta: unknown
  /** For whoever runs the service. */
  readonly requestId: string | undefined

  constructor(
    status: number,
    body: ErrorBody,
    cause?: { readonly requestId?: string | null; readonly cause?: unknown },
  ) {
    const chain: ErrorBody[] = []
    for (let at: ErrorBody | undefined = body; at !== undefined; at = at.source) chain.push(at)
    const [all = '', ...nested] = chain.map(({ message }) => message ?? '')
    // The outermost may also say all that is nested.
    const tail = nested.map((one) => `: ${one}`).join('')
    const messages = [all.endsWith(tail) ? all.slice(0, all.length - tail.length) : all, ...nested]
    super(messages.join(' > '), { cause: cause?.cause })
    this.status = status
    this.messages = messages
    this.code = chain.findLast(({ code }) => code !== undefined)?.code
    const metas = chain.flatMap(({ meta }) => meta ?? [])
    this.meta = metas.length === 0 ? undefined : Object.assign({}, ...metas)
    this.requestId = cause?.requestId ?? undefined
  }
}

export type ErrorBody = {
  readonly message?: string
  readonly code?: string
  readonly meta?: unknown
  readonly source?: ErrorBody
}
