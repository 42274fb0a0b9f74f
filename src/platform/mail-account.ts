/** The mail endpoint and the sender address. */
export type MailAccount = { readonly url: URL; readonly from: string }
