/** A call: sent when it is awaited or by the batch that takes it, once. Only `orThrow` throws what failed. */
import type { ServiceError } from './error.ts'

export interface Call<T, M = object> extends PromiseLike<Result<T, M>> {
  /** Fulfils with the data alone; rejects with a `ServiceError`. */
  orThrow(): Promise<T>
  /**
   * A value of this call for a later one of the same batch: a field of its key, or one that relations join by. Of a list
   * it is `[0].id`. It stands for a value of any type.
   */
  ref(field: string): never
}

/** `data` is undefined at 204 and 304. */
export type Result<T, M = object> =
  | ({
      readonly ok: true
      readonly status: number
      readonly data: T
      readonly etag?: string
      readonly headers: Headers
      orThrow(): T
    } & M)
  | {
      readonly ok: false
      readonly status: number
      readonly error: ServiceError
      /** Absent where there was no answer. */
      readonly headers?: Headers
      orThrow(): never
    }

/** What a call answers. */
export type Data<A> = A extends Call<infer T, infer _> ? T : never

/** What a batch knows of a call: `request` is what is sent, `prefix` leads from the call to its item. */
export type Part<A> = {
  readonly request: A
  readonly prefix: string
  /** In the batch that has taken it. */
  name?: string
  /** Makes the answer of a batch that of the call. */
  take(answer: Promise<Result<never>>): void
}

const parts = new WeakMap<object, Part<unknown>>()

/** Undefined for a call that no batch can take. */
export const partOf = <A>(call: object): Part<A> | undefined => parts.get(call) as Part<A> | undefined

export function createCall<T, M>(
  send: () => Promise<Result<T, M>>,
  batched?: { readonly request: unknown; readonly prefix: string },
): Call<T, M> {
  let sent: Promise<Result<T, M>> | undefined
  const once = () => {
    sent ??= send()
    return sent
  }
  const part: Part<unknown> | undefined = batched && {
    ...batched,
    take(answer) {
      if (sent !== undefined) throw new TypeError('A call of the batch was sent before')
      sent = answer as Promise<Result<never, M>>
    },
  }
  const call: Call<T, M> = {
    // biome-ignore lint/suspicious/noThenProperty: awaiting is what sends it
    then: (fulfilled, rejected) => once().then(fulfilled, rejected),
    orThrow: async () => (await once()).orThrow(),
    // Its name is known when the batch is sent.
    ref: (field) =>
      ({
        toJSON() {
          if (part?.name === undefined) throw new TypeError('ref is for later calls of one batch')
          return { $ref: part.name + part.prefix + field }
        },
      }) as never,
  }
  if (part !== undefined) parts.set(call, part)
  return call
}
