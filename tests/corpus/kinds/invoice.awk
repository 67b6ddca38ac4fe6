#!/usr/bin/awk -f
# sums invoices per customer

function trim(s) {
    gsub(/^ +| +$/, "", s)
    return s
}

func add_tax(amount, rate) {
    return amount * (1 + rate)
}

function print_row(name, total,    i, pad)
{
    pad = ""
    for (i = length(name); i < 20; i++) pad = pad " "
    printf "%s%s %.2f\n", name, pad, total
}

BEGIN { FS = ";"; RATE = 0.19 }

/^#/ { next }

{
    customer = trim($2)
    sums[customer] += add_tax($3, RATE)
}

END {
    for (c in sums) print_row(c, sums[c])
}
