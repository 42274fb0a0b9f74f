/** Files served beside the API, from the Worker's static assets. */
import type { Assets } from '../../ports.ts'

/** The OpenAPI document of the system, which scripts/package-assets.ts renders. */
export const SYSTEM_DOCUMENT_FILE = 'system-openapi.json'

/** Only the path matters; the host is arbitrary. */
export function openCloudflareAssets(assets: Fetcher | undefined): Assets {
  return async (name) => {
    const response = await assets?.fetch(`https://assets/${name}`)
    if (response?.ok !== true) throw new Error(`the asset ${name} was not deployed`)
    return response.text()
  }
}
