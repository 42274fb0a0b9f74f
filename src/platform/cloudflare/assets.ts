/** The files that are served beside the API, from the Worker's static assets. */
import type { Assets } from '../../ports.ts'

/** Assets are found by path; the host is any. */
export function openCloudflareAssets(assets: Fetcher | undefined): Assets {
  return async (name) => {
    const response = await assets?.fetch(`https://assets/${name}`)
    if (response?.ok !== true) throw new Error(`the asset ${name} was not deployed`)
    return response.text()
  }
}
