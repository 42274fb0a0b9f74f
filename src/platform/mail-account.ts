/** Where mails are handed in, and whose name they carry. */
export type MailAccount = { readonly url: URL; readonly from: string }
