/** Texts of files, in Arabic. */

import type { files as english } from '../en/files.ts'
import { pluralIn } from '../plural.ts'
import type { Translated } from '../translated.ts'

const plural = pluralIn('ar')

export const files: Translated<typeof english> = {
  files: {
    title: 'الملفات',
    upload: 'رفع',
    uploadFor: (field) => `رفع ملف إلى ${field}`,
    drop: 'أفلت الملفات في أي مكان من الصفحة، أو اضغط «رفع».',
    dropHere: 'أفلت للرفع',
    none: 'لا توجد ملفات',
    noneFound: 'لا يوجد ملف يطابق التصفية.',
    find: 'البحث بالاسم',
    unused: 'غير المستخدمة فقط',
    unusedHint: 'ملفات لا يشير إليها أي عنصر.',
    more: 'عرض المزيد',
    count: (shown, count) =>
      plural(count, {
        zero: 'لا ملفات',
        one: 'ملف واحد',
        two: 'ملفان',
        few: `${shown} ملفات`,
        many: `${shown} ملفًا`,
        other: `${shown} ملف`,
      }),
    uploads: 'عمليات الرفع',
    progress: (name) => `رفع ${name}`,
    sentOf: (sent, total) => `${sent} من ${total}`,
    waiting: 'في الانتظار',
    goOn: 'متابعة',
    cancel: (name) => `إلغاء رفع ${name}`,
    content: 'المحتوى',
    download: 'تنزيل',
    replace: 'استبدال',
    replaced: 'تم الاستبدال.',
    copyLink: 'نسخ رابط',
    linkCopied: 'تم النسخ. يعمل الرابط ساعة واحدة لكل من لديه.',
    noPreview: 'لا توجد معاينة لهذا النوع.',
  },
}
