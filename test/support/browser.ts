/**
 * A Chromium that comes from npm, one for each process of the tests. It is opened with the first page, reaches nothing
 * but this machine, and ends with the process; a test closes the pages that it opened.
 */
import { execFile } from 'node:child_process'
import { access, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type Browser, type BrowserContextOptions, chromium, type LaunchOptions, type Page } from 'playwright-core'

const run = promisify(execFile)

/** Another Chromium than that of npm, which is there for Linux on x64 alone. */
const CHROMIUM = 'SERVICE_TEST_CHROMIUM'

const modules = join(import.meta.dirname, '../../node_modules')

/** Tests of a process may share it or not, whether they share its modules or not. */
const shared = globalThis as { openChromium?: Promise<Browser> }

/** The browser of this process. */
export function openChromium(): Promise<Browser> {
  shared.openChromium ??= launch()
  return shared.openChromium
}

/** Milliseconds that a page is waited for: as `expect.poll`, so that nothing fails for slowness. */
export const PATIENCE = 60_000

/** A page that shares neither cookies nor storage with others; `page.context().close()` closes all of it. */
export async function openPage(options?: BrowserContextOptions): Promise<Page> {
  const browser = await openChromium()
  return (await browser.newContext(options)).newPage()
}

/** A proxy where nobody listens: loopback needs none, and all else fails at once. */
const ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-dev-shm-usage',
  '--proxy-server=http://127.0.0.1:9',
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1, EXCLUDE [::1]',
  '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
]

async function launch(): Promise<Browser> {
  return chromium.launch({ ...(await installed()), args: ARGUMENTS, headless: true })
}

async function installed(): Promise<Pick<LaunchOptions, 'executablePath' | 'channel' | 'env'>> {
  const named = process.env[CHROMIUM]
  if (named !== undefined) return { executablePath: named }
  if (process.platform !== 'linux' || process.arch !== 'x64') return { channel: 'chrome' }

  const folder = await unpackChromium(join(modules, '.cache/chromium'))
  const executablePath = join(folder, 'chromium')
  const env = { ...process.env, FONTCONFIG_FILE: join(folder, 'fonts.conf') }
  const starts = await run(executablePath, ['--version'], { env }).then(
    () => true,
    () => false,
  )
  return { executablePath, env: starts ? env : { ...env, LD_LIBRARY_PATH: join(folder, 'al2023/lib') } }
}

/** The folder of the program, unpacked once for each version; who comes second at the same time takes that of the first. */
export async function unpackChromium(cache: string): Promise<string> {
  const manifest = join(modules, '@sparticuz/chromium/package.json')
  const { version } = JSON.parse(await readFile(manifest, 'utf8')) as { readonly version: string }
  const folder = join(cache, version)
  if (await isThere(folder)) return folder

  await mkdir(cache, { recursive: true })
  const draft = await mkdtemp(join(cache, 'draft-'))
  try {
    await unpackInto(draft)
    await writeFile(join(draft, 'fonts.conf'), fontsOf(folder))
    await rename(draft, folder)
  } catch (error) {
    if (!(await isThere(folder))) throw error
  } finally {
    await rm(draft, { recursive: true, force: true })
  }
  return folder
}

/** The package unpacks into the system's temporary folder, and its libraries where it takes the machine for AWS Lambda. */
async function unpackInto(folder: string): Promise<void> {
  const script = `await (await import(${JSON.stringify(import.meta.resolve('@sparticuz/chromium'))})).default.executablePath()`
  const env = { ...process.env, TMPDIR: folder, AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x', NODE_OPTIONS: '' }
  await run(process.execPath, ['--input-type=module', '--eval', script], { env })
}

/** Those of the system, and one for a system without any. */
const fontsOf = (folder: string) => `<?xml version="1.0"?>
<fontconfig>
  <include ignore_missing="yes">/etc/fonts/fonts.conf</include>
  <dir>${join(folder, 'fonts')}</dir>
  <cachedir>${join(folder, 'fonts-cache')}</cachedir>
</fontconfig>
`

async function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}
