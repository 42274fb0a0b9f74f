/** Files in a bucket of R2, by its binding: an object for each part. */
import type { FilePart } from '../../ports/files.ts'
import type { PartStore } from '../files/checked.ts'

export function openFileBucket(bucket: R2Bucket): PartStore {
  async function* listed(key: string): AsyncGenerator<readonly R2Object[]> {
    let cursor: string | undefined
    do {
      const page = await bucket.list({ prefix: `${key}/`, ...(cursor !== undefined && { cursor }) })
      yield page.objects
      cursor = page.truncated ? page.cursor : undefined
    } while (cursor !== undefined)
  }

  return {
    async put(key, number, bytes) {
      await bucket.put(`${key}/${number}`, bytes)
    },

    async read(key, number, offset, length) {
      const name = `${key}/${number}`
      // R2 refuses a range that begins behind the end, and shortens one that ends there.
      const size = offset === 0 ? undefined : (await bucket.head(name))?.size
      if (size !== undefined && size < offset + length) return undefined
      const object = await bucket.get(name, { range: { offset, length } })
      if (object === null) return undefined
      if (object.size >= offset + length) return object.body
      await object.body.cancel()
      return undefined
    },

    async parts(key) {
      const found: FilePart[] = []
      for await (const page of listed(key)) {
        for (const { key: name, size } of page) found.push({ number: Number(name.slice(key.length + 1)), size })
      }
      return found
    },

    async clear(key) {
      for await (const page of listed(key)) if (page.length > 0) await bucket.delete(page.map(({ key: name }) => name))
    },
  }
}
