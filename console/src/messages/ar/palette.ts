/** Texts of the command palette, in Arabic. */
import type { palette as english } from '../en/palette.ts'
import type { Translated } from '../translated.ts'

export const palette: Translated<typeof english> = {
  palette: {
    newPolicy: 'سياسة جديدة',
    title: 'بحث',
    label: 'ابحث في الأوامر والمجموعات والحقول والعناصر ومساحات العمل',
    placeholder: 'ماذا تريد أن تفعل؟',
    actions: 'الأوامر',
    collections: 'المجموعات',
    fields: 'الحقول',
    items: 'العناصر',
    workspaces: 'مساحات العمل',
    model: { '': 'نموذج البيانات', diagram: 'مخطط نموذج البيانات', file: 'نموذج البيانات ملفًا' },
    home: 'كل مساحات العمل',
    mayNotRead: 'لا يحقّ لك قراءة صفوفها.',
    mayNotCreate: 'لا يحقّ لك إنشاء صفوف هنا.',
    administrators: 'لمديري الخدمة فقط.',
    takes: (entitlements) => `ينقصك الحق ${entitlements}.`,
  },
}
