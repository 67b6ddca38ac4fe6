import { defineStore } from 'pinia'
import { computed, ref } from 'vue'
import { api } from '@/api'

const STORAGE_KEY = 'cart'

export const useCartStore = defineStore('cart', {
  state: () => ({
    items: [],
    coupon: null,
  }),
  getters: {
    itemCount: (state) => state.items.length,
    grandTotal() {
      return this.items.reduce((s, i) => s + i.price, 0)
    },
  },
  actions: {
    async loadCart() {
      this.items = await api.get('/cart')
    },
    applyCoupon(code) {
      this.coupon = code
    },
  },
})

export const useWishStore = defineStore('wishes', () => {
  const wishes = ref([])
  const hasWishes = computed(() => wishes.value.length > 0)

  function addWish(w) {
    wishes.value.push(w)
  }
  const dropWish = (id) => {
    wishes.value = wishes.value.filter((w) => w.id !== id)
  }

  return { wishes, hasWishes, addWish, dropWish }
})
