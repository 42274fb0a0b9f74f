/**
 * One-time secrets that links bring in the fragment, which no server sees: of a local run's sign-in, of mails. They
 * leave the address and the history before the first request.
 */
import { address, navigate, route } from './router.ts'

export type Secrets = {
  readonly signIn: string | undefined
  readonly reset: string | undefined
  /** With the address that was invited, where the link has it. */
  readonly invitation: { readonly token: string; readonly email: string } | undefined
}

export function takeSecrets(): Secrets {
  const { hash, pathname, search } = address.value
  const given = new URLSearchParams(hash.slice(1))
  const name = route.value.kind === 'own' ? route.value.name : undefined
  if (hash !== '') navigate(pathname + search, 'replace')
  const token = given.get('token') ?? undefined
  return {
    signIn: given.get('sign-in') ?? undefined,
    reset: name === 'reset' ? token : undefined,
    invitation: name === 'invitation' && token ? { token, email: given.get('email') ?? '' } : undefined,
  }
}
