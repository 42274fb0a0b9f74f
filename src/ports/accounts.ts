/** What signing in needs: hashes, encryption, providers, mails. */

/** Password hashing (docs/contract.md#passwords). */
export interface Passwords {
  /** Returns a self-describing hash with its salt and cost. */
  hash(password: string): Promise<string>
  /**
   * Whether the password matches. Takes the same time for an undefined `hash` (unknown account), which never does. Of one `origin`,
   * a client's network or credential, few are compared at once: throws 429 beyond, and 503 where too many of all are.
   */
  verify(password: string, hash: string | undefined, origin: string): Promise<boolean>
}

/** Encryption at rest with SERVICE_SECRET. `purpose` is authenticated: a text sealed for another purpose is refused. */
export interface Vault {
  /** Encrypts with the first secret. */
  seal(purpose: string, text: string): Promise<string>
  /** Decrypts with any of the secrets. Throws if none opens the text, or if it was sealed for another purpose. */
  open(purpose: string, sealed: string): Promise<string>
  /** Returns the text sealed with the first secret; undefined if it already is. Throws if no secret opens it. */
  reseal(purpose: string, sealed: string): Promise<string | undefined>
}

/**
 * Outbound requests to sign-in providers (docs/contract.md#sign-in-providers), at addresses that come from an
 * administrator or from a provider's own documents.
 */
export interface ProviderGate {
  /** Returns why `address` is refused, as a predicate to follow the address in a message; undefined if allowed. */
  refusal(address: string): string | undefined
  /**
   * Sends one request and returns the response with its body read. Does not follow redirects. Throws if the address is
   * refused, on a timeout, on a network error, and if the response is too large.
   */
  fetch(address: string, request: RequestInit): Promise<Response>
  /**
   * Sends one request and returns the response while its body comes. Throws like `fetch`, and its body ends with an error where
   * nothing comes for `idle` milliseconds.
   */
  stream(address: string, request: RequestInit, idle: number): Promise<Response>
}

export type Mail = { readonly to: string; readonly subject: string; readonly text: string }

export interface Mailer {
  /** Resolves when the mail was accepted for delivery. Throws otherwise; the error does not contain the mail's text. */
  send(mail: Mail): Promise<void>
}
