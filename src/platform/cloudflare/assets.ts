/** Files served beside the API, from the Worker's static assets. */
import type { Assets, ConsoleFiles } from '../../ports/files.ts'

/** The OpenAPI document of the system, which scripts/package-assets.ts renders. */
export const SYSTEM_DOCUMENT_FILE = 'system-openapi.json'

/** Each as it comes, so that no request reads the whole of one. */
export function openCloudflareAssets(assets: Fetcher | undefined): Assets {
  return async (name) => (await assetOf(assets, name)).body ?? ''
}

/** The same as strings. */
export function openCloudflareTexts(assets: Fetcher | undefined): (name: string) => Promise<string> {
  return async (name) => (await assetOf(assets, name)).text()
}

/** Only the path matters; the host is arbitrary. */
async function assetOf(assets: Fetcher | undefined, name: string): Promise<Response> {
  const response = await assets?.fetch(`https://assets/${name}`)
  if (response?.ok === true) return response
  throw new Error(`the asset ${name} was not deployed`)
}

/** The page of the console among the assets; its other files are served without the Worker (wrangler.toml). */
export const CONSOLE_PAGE_FILE = 'console.html'

/** A Worker that was deployed without a console shows none. */
export function openCloudflareConsole(assets: (name: string) => Promise<string>): ConsoleFiles {
  let page: string | undefined
  return {
    async page() {
      page ??= await assets(CONSOLE_PAGE_FILE)
      return page
    },
  }
}
