/** The reason why a sign-in through a provider failed; only the operator's log gets the message. */
export type FaultKind =
  /** The user declined. */
  | 'denied'
  /** The provider does not answer. */
  | 'unavailable'
  /** An invalid response or request, possibly an attack. */
  | 'invalid'

export class ProviderFault extends Error {
  readonly kind: FaultKind

  constructor(kind: FaultKind, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'ProviderFault'
    this.kind = kind
  }
}
