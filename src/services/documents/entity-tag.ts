/** Computes weak entity tags of texts. */
import { sha256Hex } from '../caller/digest.ts'

export async function weakTag(text: string | Uint8Array<ArrayBuffer>): Promise<string> {
  return `W/"${(await sha256Hex(text)).slice(0, 32)}"`
}
