/** Files served beside the API, from the Worker's static assets. */
import type { ConsoleFiles } from '../../ports.ts'

/** The OpenAPI document of the system, which scripts/package-assets.ts renders. */
export const SYSTEM_DOCUMENT_FILE = 'system-openapi.json'

/** Only the path matters; the host is arbitrary. */
export function openCloudflareAssets(assets: Fetcher | undefined) {
  return async (name: string): Promise<string> => {
    const response = await assets?.fetch(`https://assets/${name}`)
    if (response?.ok !== true) throw new Error(`the asset ${name} was not deployed`)
    return response.text()
  }
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
