/**
 * A browser as far as signing in through a provider needs one: it keeps cookies by host and path, and goes where it is
 * redirected to one step at a time, so that a test can look at each address and change it.
 */
export type Browser = {
  /** One request, with its cookies; headers that a test adds are for this one. */
  get(address: string, headers?: Readonly<Record<string, string>>): Promise<Response>
  /**
   * Follows redirects from `address` until one leads to an address that begins with `end`, which is answered and not
   * visited; or to something that is no redirect, which is a failure.
   */
  goUntil(address: string, end: string, headers?: Readonly<Record<string, string>>): Promise<string>
  /** The cookie of that name that was set by whatever host. */
  cookie(name: string): string | undefined
}

type Cookie = { readonly host: string; readonly path: string; readonly name: string; readonly value: string }

export function openBrowser(): Browser {
  let jar: readonly Cookie[] = []

  function store(address: URL, line: string): void {
    const [pair = '', ...attributes] = line.split(';').map((part) => part.trim())
    const [name = '', value = ''] = pair.split(/=(.*)/s)
    const path = attributes.find((attribute) => /^path=/i.test(attribute))?.slice('path='.length) ?? '/'
    const isOver = attributes.some((attribute) => /^max-age=0$|^expires=Thu, 01 Jan 1970/i.test(attribute))
    const others = jar.filter((cookie) => cookie.host !== address.host || cookie.path !== path || cookie.name !== name)
    jar = isOver ? others : [...others, { host: address.host, path, name, value }]
  }

  async function get(address: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
    const url = new URL(address)
    const cookies = jar.filter(({ host, path }) => host === url.host && `${url.pathname}/`.startsWith(path))
    const cookie = cookies.map(({ name, value }) => `${name}=${value}`).join('; ')
    const response = await fetch(url, {
      redirect: 'manual',
      headers: { ...headers, ...(cookie !== '' && { Cookie: cookie }) },
    })
    for (const line of response.headers.getSetCookie()) store(url, line)
    return response
  }

  return {
    get,
    async goUntil(address, end, headers) {
      let next = address
      for (let step = 0; step < 20; step += 1) {
        const response = await get(next, headers)
        const location = response.headers.get('Location')
        if (location === null) throw new Error(`${next} answered ${response.status}: ${await response.text()}`)
        next = new URL(location, next).href
        if (next.startsWith(end)) return next
      }
      throw new Error(`${address} never leads to ${end}`)
    },
    cookie: (name) => jar.find((cookie) => cookie.name === name)?.value,
  }
}
