/** Going through a sign-in by a provider, one leg at a time, as a person with a browser does. */
import { type Browser, openBrowser } from '../run/browser.ts'
import { world } from './world.ts'

/** Of another origin, which the suite's servers allow. */
export const RETURN_URL = 'https://app.example.com/welcome?from=mail'

export const signingIn = { name, callbackOf, provider, login, leave, enter, whoami }

export type SignInOutcome = {
  readonly browser: Browser
  /** Where the callback sent them, or undefined where it answered by itself. */
  readonly location: string | null
  readonly response: Response
}

/** A provider's name that nobody else uses. */
function name(stem: string): string {
  return world.name(stem).replaceAll('_', '-')
}

function callbackOf(provider: string): string {
  return `${world.url}/api/auth/providers/${provider}/callback`
}

/** Sets a provider up, which must work. */
async function provider(settings: object): Promise<void> {
  const response = await world.administrator.post('/api/system/providers', settings)
  if (response.status !== 201) throw new Error(await response.text())
}

/** The address of the login. */
function login(provider: string, redirect: string | undefined = RETURN_URL): string {
  return `${world.url}/api/auth/providers/${provider}/login?redirect=${encodeURIComponent(redirect)}`
}

/** Up to the address that the provider sends the browser back to, which is not visited yet. */
function leave(browser: Browser, provider: string, account = ''): Promise<string> {
  return browser.goUntil(login(provider), callbackOf(provider), { 'X-Account': account })
}

/** All of it, in a new browser. */
async function enter(provider: string, account = ''): Promise<SignInOutcome> {
  const browser = openBrowser()
  const response = await browser.get(await leave(browser, provider, account))
  return { browser, response, location: response.headers.get('Location') }
}

/** Whom the session cookie of the browser is of. */
async function whoami(browser: Browser): Promise<Readonly<Record<string, unknown>> | undefined> {
  const response = await browser.get(`${world.url}/api/system/users/me`)
  return response.ok ? ((await response.json()) as { data: Record<string, unknown> }).data : undefined
}
