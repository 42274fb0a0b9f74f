/** Why a sign-in through a provider went no further: for the log of the operator, who alone is told the message. */
export type FaultKind =
  /** The person said no. */
  | 'denied'
  /** The provider does not answer. */
  | 'unavailable'
  /** Somebody is wrong, or not who they seem to be. */
  | 'invalid'

export class ProviderFault extends Error {
  readonly kind: FaultKind

  constructor(kind: FaultKind, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'ProviderFault'
    this.kind = kind
  }
}
